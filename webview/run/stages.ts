import { html, nothing, svg, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { decimal, grouped } from '../language/numbers';
import { icon } from '../ui';
import { latestWithin, some, type Point } from './curves';
import type { Figure } from './figures';
import type { CandidateView, RunView, StageView } from './protocol';

const WIDTH = 96;
const HEIGHT = 22;

/** A curve in the size of a word; the number beside it says the same. */
export function spark(values: readonly number[], isHeldOut: boolean): TemplateResult {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const y = (value: number): number =>
    high === low ? HEIGHT / 2 : HEIGHT - 2 - ((value - low) / (high - low)) * (HEIGHT - 4);
  const points = values.map((value, index) => {
    const x = values.length === 1 ? 0 : (index / (values.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${y(value).toFixed(1)}`;
  });
  return html`<svg
    class="spark ${isHeldOut ? 'held-out' : ''}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    aria-hidden="true"
    focusable="false"
  >
    ${svg`<polyline points=${points.join(' ')} />`}
  </svg>`;
}

const stageIcons: Readonly<Record<StageView['state'], string>> = {
  done: 'pass-filled',
  now: 'play-circle',
  waiting: 'circle-large',
};

/**
 * The stages in their order. Those with curves are buttons that show them.
 * @param shown the stage whose curves are shown
 */
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

/** Of the stage that a run has come to that is not at work; the other ones broke off. */
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
  const words = { done: t('done'), now: '', waiting: t('not begun') }[state];
  return html`${icon(name)}<span>${label}</span>${
    amount === '' ? nothing : html`<span class="amount">${amount}</span>`
  }${words === '' ? nothing : html`<span class="unseen">${words}</span>`}`;
}

const MOST_ROWS = 40;

/** The curves as numbers, for those who cannot see them: some steps, evenly over what is shown. */
export function curveTable(
  figure: Figure,
  training: readonly Point[],
  heldOut: readonly Point[],
): TemplateResult {
  // The held-out examples are looked at before the first step as well.
  const early = heldOut.filter(({ step }) => step < (training[0]?.step ?? Infinity));
  const rows = [...some(early, MOST_ROWS), ...some(training, MOST_ROWS)];
  const isMean = training.some(({ low, high }) => low !== high);
  const cell = (value: number | undefined): string => (value === undefined ? '' : figure.format(value));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${figure.title}>
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">${t('Step')}</th>
          <th scope="col" class="number">${t('Training')}</th>
          ${
            isMean
              ? html`<th scope="col" class="number">${t('Lowest')}</th>
                  <th scope="col" class="number">${t('Highest')}</th>`
              : nothing
          }
          ${heldOut.length === 0 ? nothing : html`<th scope="col" class="number">${t('Held out')}</th>`}
        </tr>
      </thead>
      <tbody>
        ${rows.map(({ step }, index) => {
          const before = rows[index - 1]?.step ?? -1;
          const at = latestWithin(training, before, step);
          return html`<tr>
            <th scope="row" class="number">${grouped(step)}</th>
            <td class="number">${cell(at?.mean)}</td>
            ${
              isMean
                ? html`<td class="number">${cell(at?.low)}</td>
                    <td class="number">${cell(at?.high)}</td>`
                : nothing
            }
            ${
              heldOut.length === 0
                ? nothing
                : html`<td class="number">${cell(latestWithin(heldOut, before, step)?.mean)}</td>`
            }
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

/** Turns that were sampled for one history, with the scores of the critic and of the same model untrained. */
export function candidateTable(candidates: readonly CandidateView[]): TemplateResult {
  const score = (value: number | undefined): string => (value === undefined ? '–' : decimal(value, 3));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${t('Candidates')}>
    <table class="candidates">
      <thead>
        <tr>
          <th scope="col" class="number">${t('Critic')}</th>
          <th scope="col" class="number">${t('Untrained')}</th>
          <th scope="col" class="number">${t('Sampled')}</th>
          <th scope="col">${t('Turn')}</th>
        </tr>
      </thead>
      <tbody>
        ${candidates.map(
          ({ text, times, score: trained, untrained }) =>
            html`<tr>
              <td class="number">${score(trained)}</td>
              <td class="number">${score(untrained)}</td>
              <td class="number">${t('{0}×', times)}</td>
              <td class="text">${withVisibleControls(text.trim())}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
