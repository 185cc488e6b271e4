import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { icon } from '../ui';
import { numberColumn, table } from '../ui/table';
import type { NodeView, RunView } from './protocol';

const nodeIcons: Readonly<Record<NodeView['state'], string>> = {
  works: 'vm-running',
  back: 'vm-active',
  lost: 'vm-outline',
  idle: 'vm',
};

export function clusterNodes({ nodes, workers }: RunView): TemplateResult | typeof nothing {
  if (nodes.length === 0) return nothing;
  const hasGpus = nodes.some(({ gpus }) => gpus !== '');
  return html`<section class="nodes" aria-label=${t('Nodes')}>
    <h2>${t('Nodes')} <span class="quiet">${workers}</span></h2>
    ${table(
      t('Nodes of the cluster'),
      html`<thead>
          <tr>
            <th scope="col">${t('Node')}</th>
            <th scope="col">${t('State')}</th>
            ${numberColumn(t('Workers'))} ${hasGpus ? html`<th scope="col">${t('GPUs')}</th>` : nothing}
          </tr>
        </thead>
        <tbody>
          ${nodes.map(
            (node) =>
              html`<tr>
                <th scope="row" class="text">${node.host}</th>
                <td>
                  <span class="state ${node.state}">${icon(nodeIcons[node.state])}${node.stateLabel}</span>
                </td>
                <td class="number">${node.workers}</td>
                ${hasGpus ? html`<td>${node.gpus}</td>` : nothing}
              </tr>`,
          )}
        </tbody>`,
    )}
  </section>`;
}
