import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { button, linkButton } from '../ui';
import { host } from './host';
import type { RunView } from './protocol';

/** What a run that is over comes to, with what to do next. */
export function outcome(view: RunView): TemplateResult | typeof nothing {
  const { sentence, lastLines, result, restriction, isLive, canResume } = view;
  const refused = restriction !== '' && (isLive || canResume);
  if (sentence === '' && lastLines.length === 0 && !refused) return nothing;
  return html`<section class="outcome" aria-label=${t('Outcome')}>
    ${sentence === '' ? nothing : html`<p>${sentence}</p>`}
    ${refused ? html`<p class="quiet">${restriction} ${linkButton(t('Manage Workspace Trust'), () => host.act('trust'))}</p>` : nothing}
    ${
      lastLines.length === 0
        ? nothing
        : html`<p class="quiet">${t('The trainer said last:')}</p>
            <pre tabindex="0" role="region" aria-label=${t('Last lines of the log')}>
${lastLines.join('\n')}</pre>`
    }
    ${
      result === 'playable' && restriction === ''
        ? button({
            label: t('Play with it'),
            kind: 'primary',
            icon: 'hubot',
            title: t('Makes it the agent and opens the next task'),
            onPress: () => host.act('play'),
          })
        : nothing
    }
    ${
      result === 'model'
        ? html`<p class="quiet">
            ${t('It has no ONNX graph yet, with which it could play here.')}
            ${linkButton(t('Reveal the model'), () => host.act('reveal'))}
          </p>`
        : nothing
    }
  </section>`;
}
