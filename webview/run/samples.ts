import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { decimal } from '../language/numbers';
import { iconButton } from '../ui';
import { numberColumn, table } from '../ui/table';
import type { CandidateView, MessageView, SamplesView } from './protocol';

export function sampled(
  groups: SamplesView['groups'],
  shown: number,
  turn: (to: number) => void,
): TemplateResult | typeof nothing {
  const group = groups[shown];
  if (group === undefined) return nothing;
  const { length } = groups;
  const by = (step: number) => (): void => turn((shown + step + length) % length);
  return html`<section aria-label=${t('Sampled turns')}>
    <div class="heading-line">
      <h2>${t('Highest- and lowest-scored turns')}</h2>
      <span class="quiet">${t('history {0} of {1}', shown + 1, length)}</span>
      ${
        length === 1
          ? nothing
          : html`<span>
              ${iconButton({ icon: 'chevron-left', label: t('Previous history'), onPress: by(-1) })}
              ${iconButton({ icon: 'chevron-right', label: t('Next history'), onPress: by(1) })}
            </span>`
      }
    </div>
    ${before(group.history)} ${candidateTable(group.candidates)}
    <p class="legend quiet">${t('Scores of the critic and of the same model before training.')}</p>
  </section>`;
}

function before(history: readonly MessageView[]): TemplateResult | typeof nothing {
  const last = history.at(-1);
  if (last === undefined) return nothing;
  const earlier = history.slice(0, -1);
  return html`<div class="before">
    ${
      earlier.length === 0
        ? nothing
        : html`<details>
            <summary>
              ${earlier.length === 1 ? t('1 earlier message') : t('{0} earlier messages', earlier.length)}
            </summary>
            ${earlier.map(message)}
          </details>`
    }
    ${message(last)}
  </div>`;
}

const message = ({ isAgent, text }: MessageView): TemplateResult =>
  html`<p>
    <span class="quiet">${isAgent ? t('Agent') : t('Collaborator')}</span> ${withVisibleControls(text.trim())}
  </p>`;

function candidateTable(candidates: readonly CandidateView[]): TemplateResult {
  const score = (value: number | undefined): string =>
    value === undefined ? '–' : decimal(value, 3).replace('-', '−');
  return table(
    t('Candidates'),
    [...[t('Critic'), t('Untrained'), t('Sampled')].map(numberColumn), t('Turn')],
    candidates.map(
      ({ text, times, score: trained, untrained }) =>
        html`<td class="number">${score(trained)}</td>
          <td class="number">${score(untrained)}</td>
          <td class="number">${t('{0}×', times)}</td>
          <td class="text">${withVisibleControls(text.trim())}</td>`,
    ),
    'candidates',
  );
}
