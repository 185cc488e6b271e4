import './steps.css';
import { html, nothing, type TemplateResult } from 'lit';
import { icon } from '.';
import { t } from '../language';
import type { StepView } from './protocol';

const icons: Readonly<Record<StepView['state'], string>> = {
  done: 'pass-filled',
  now: 'play-circle',
  // A larger one looks like a radio button.
  waiting: 'circle-small',
};

/** @param isResting true while the step at work is stopped */
export function steps(all: readonly StepView[], isResting = false): TemplateResult {
  return html`<ol class="steps" aria-label=${t('Steps')}>
    ${all.map((one) => step(one, isResting && one.state === 'now'))}
  </ol>`;
}

function step({ label, detail, state, fraction, count }: StepView, isResting: boolean): TemplateResult {
  const words = { done: t('done'), now: isResting ? t('stopped') : t('running'), waiting: t('not started') };
  return html`<li class=${state} aria-current=${state === 'now' ? 'step' : nothing}>
    ${icon(isResting ? 'debug-pause' : icons[state])}
    <div class="step">
      <span class="name">${label}</span>
      <span class="quiet">${detail}</span>
      ${
        state !== 'now'
          ? nothing
          : html`<span class="course">
              <progress max="1" .value=${fraction ?? 0} aria-label=${label}></progress>
              <span class="count">${count}</span>
            </span>`
      }
    </div>
    <span class="unseen">${words[state]}</span>
  </li>`;
}
