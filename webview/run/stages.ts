import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { icon } from '../ui';
import type { RunView, StageView } from './protocol';

const stageIcons: Readonly<Record<StageView['state'], string>> = {
  done: 'pass-filled',
  now: 'play-circle',
  waiting: 'circle-large',
};

export function stepper(
  { stages, left, isLive, state }: RunView,
  shown: string,
  choose: (stage: string) => void,
): TemplateResult {
  return html`<div class="progress-line">
    <ol class="stages" aria-label=${t('Stages')}>
      ${stages.map(
        (stage) =>
          html`<li class=${stage.state} aria-current=${stage.state === 'now' ? 'step' : nothing}>
            ${
              stage.hasCurves
                ? html`<button
                    type="button"
                    class="stage"
                    aria-pressed=${stage.name === shown}
                    title=${t('Show the curves of this stage')}
                    @click=${() => choose(stage.name)}
                  >
                    ${stageLabel(stage, isLive, state)}
                  </button>`
                : html`<span class="stage">${stageLabel(stage, isLive, state)}</span>`
            }
          </li>`,
      )}
    </ol>
    ${left === '' ? nothing : html`<span class="left">${left}</span>`}
  </div>`;
}

/** While no trainer works on the run; in other states it broke off and shows an error. */
const restingIcons: Readonly<Partial<Record<RunView['state'], string>>> = {
  stopped: 'debug-pause',
  queued: 'clock',
};

function stageLabel(
  { label, state, fraction }: StageView,
  isLive: boolean,
  run: RunView['state'],
): TemplateResult {
  const name = state === 'now' && !isLive ? (restingIcons[run] ?? 'error') : stageIcons[state];
  const amount = state === 'now' && fraction !== undefined ? t('{0} %', Math.floor(100 * fraction)) : '';
  const words = { done: t('done'), now: '', waiting: t('not started') }[state];
  return html`${icon(name)}<span>${label}</span>${
    amount === '' ? nothing : html`<span class="amount">${amount}</span>`
  }${words === '' ? nothing : html`<span class="unseen">${words}</span>`}`;
}
