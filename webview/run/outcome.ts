import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { button, linkButton } from '../ui';
import { host } from './host';
import type { RunView } from './protocol';

export function outcome(view: RunView): TemplateResult | typeof nothing {
  const { sentence, measured, lastLines, result, restriction, isLive, canResume } = view;
  const refused = restriction !== '' && (isLive || canResume);
  if (sentence === '' && lastLines.length === 0 && !refused) return nothing;
  return html`<section class="outcome" aria-label=${t('Outcome')}>
    ${measured === '' ? nothing : html`<p>${measured}</p>`}
    ${sentence === '' ? nothing : html`<p>${sentence}</p>`}
    ${refused ? html`<p class="quiet">${restriction} ${linkButton(t('Manage Workspace Trust'), () => host.act('trust'))}</p>` : nothing}
    ${
      lastLines.length === 0
        ? nothing
        : html`<p class="quiet">${t('The trainer said last:')}</p>
            <pre tabindex="0" role="region" aria-label=${t('Last lines of the log')}>
${lastLines.join('\n')}</pre>`
    }
    ${result === 'none' || restriction !== '' ? nothing : next(result)}
    ${
      result === 'model'
        ? html`<p class="quiet">
            ${t('It cannot play here yet, because it has no ONNX graph.')}
            ${linkButton(t('Reveal the model'), () => host.act('reveal'))}
          </p>`
        : nothing
    }
  </section>`;
}

function next(result: 'model' | 'playable'): TemplateResult {
  const compare = button({
    label: t('Compare'),
    icon: 'git-compare',
    title: t('Compares the run with others, or with its base model'),
    onPress: () => host.act('compare'),
  });
  if (result === 'model') return html`<div class="next">${compare}</div>`;
  return html`<div class="next">
    ${button({
      label: t('Play with it'),
      kind: 'primary',
      icon: 'hubot',
      title: t('Makes it the agent and opens the next task'),
      onPress: () => host.act('play'),
    })}
    ${button({
      label: t('Evaluate…'),
      icon: 'beaker',
      title: t('Plays held-out tasks with it and with its base model'),
      onPress: () => host.act('evaluate'),
    })}
    ${compare}
    ${button({
      label: t('Use in chat'),
      icon: 'comment-discussion',
      title: t('Makes it the agent and asks it in the chat, as @tandem'),
      onPress: () => host.act('chat'),
    })}
  </div>`;
}
