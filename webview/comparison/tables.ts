import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { decimal, grouped, withMinus } from '../language/numbers';
import { linkButton } from '../ui';
import { numberColumn, table } from '../ui/table';
import { estimate, inParts, percent, signed } from './estimates';
import type { ComparedRun, ControlView, DifferenceView, PairedView, MeasuredRunsView } from './protocol';

export function differenceTable(
  differences: readonly DifferenceView[],
  runs: readonly ComparedRun[],
): TemplateResult {
  return table(
    t('Configurations'),
    [t('Setting'), ...runs.map(({ name }) => name)],
    differences.map(
      ({ field, values }) =>
        html`<th scope="row" class="text">${field}</th>
          ${values.map((value) =>
            value === null
              ? html`<td class="quiet">${t('default')}</td>`
              : html`<td class="text">${value}</td>`,
          )}`,
    ),
  );
}

/** In percentage points: `+13.7 (+9.1 to +18.2), p < 0.001`. */
export function paired(of: PairedView | undefined): string {
  if (of === undefined) return '';
  const { difference, interval, p, tasks } = of;
  if (difference === null || p === null) return t('no tasks in common');
  const range =
    interval === undefined
      ? t('too few tasks for an interval: {0}', tasks)
      : t('{0} to {1}', signed(interval.low), signed(interval.high));
  const chance = p < 0.001 ? 'p < 0.001' : `p = ${decimal(p, 3)}`;
  return t('{0} ({1}), {2}', signed(difference), range, chance);
}

/** @param evaluate absent where nothing can be evaluated now */
export function measuredTable(
  { title, how, rows, missing }: MeasuredRunsView,
  runs: readonly ComparedRun[],
  evaluate: (() => void) | undefined,
): TemplateResult {
  const hasStart = rows.some(({ againstStart }) => againstStart !== undefined);
  const hasFirst = rows.some(({ againstFirst }) => againstFirst !== undefined);
  const first = rows.find(({ run }) => run !== undefined)?.name ?? '';
  return table(
    t('Held-out success, {0}: {1}', title, how),
    [
      t('Model'),
      numberColumn(t('Success (95 % interval)')),
      hasStart ? numberColumn(t('Δ vs. base (points)')) : nothing,
      hasFirst ? numberColumn(t('Δ vs. {0} (points)', first)) : nothing,
      numberColumn(t('Tests passed')),
      numberColumn(t('Turns')),
    ],
    [
      ...rows.map(
        ({ run, name, success, testsPassed, turns, againstStart, againstFirst }) =>
          html`<th scope="row">
              ${name}${run === undefined ? html` <span class="quiet">${t('base model')}</span>` : nothing}
            </th>
            <td class="number">${inParts(estimate(success))}</td>
            ${hasStart ? html`<td class="number">${inParts(paired(againstStart))}</td>` : nothing}
            ${hasFirst ? html`<td class="number">${inParts(paired(againstFirst))}</td>` : nothing}
            <td class="number">${inParts(estimate(testsPassed))}</td>
            <td class="number">${turns === null ? '–' : decimal(turns, 1)}</td>`,
      ),
      ...missing.map((index) => {
        const { name, silent } = runs[index]!;
        return html`<th scope="row">${name}</th>
          <td class="number">
            <span class="quiet whole">${t('not evaluated')}</span>
            ${evaluate === undefined || silent !== '' ? nothing : linkButton(t('Evaluate…'), evaluate)}
          </td>
          <td colspan=${2 + Number(hasStart) + Number(hasFirst)}></td>`;
      }),
    ],
  );
}

/** `78.0 % of 40` */
function inOrder(accuracy: number | null, pairs: number | null): string {
  if (accuracy === null) return '–';
  return pairs === null
    ? t('{0} %', percent(accuracy))
    : t('{0} % of {1}', percent(accuracy), grouped(pairs));
}

const number = (value: number | null, digits: number): string =>
  value === null ? '–' : withMinus(value, digits);

/** `0.42 (0.20 – 0.61)` */
function withRange(gains: ControlView['gains']): string {
  if (gains === null) return '–';
  const { mean, low, high } = gains;
  const range = low === null || high === null ? '' : ` (${withMinus(low, 2)} – ${withMinus(high, 2)})`;
  return `${withMinus(mean, 2)}${range}`;
}

export function controlTable(controls: readonly ControlView[], runs: readonly ComparedRun[]): TemplateResult {
  const hasGains = controls.some(({ gains }) => gains !== null);
  return table(
    t('Critics vs. untrained baseline'),
    [
      t('Critic'),
      ...[
        t('Held-out pair accuracy'),
        t('Untrained baseline'),
        ...(hasGains ? [t('Rank correlation with the gains of drafts')] : []),
        t('Rank correlation with the untrained baseline'),
        t('Score std. dev., critic'),
        t('Score std. dev., untrained'),
        t('Turns ranked'),
      ].map(numberColumn),
    ],
    controls.map(
      (one) =>
        html`<th scope="row">${runs[one.run]!.name} <span class="quiet">${one.stage}</span></th>
          <td class="number">${inOrder(one.accuracy, one.pairs)}</td>
          <td class="number">${inOrder(one.untrainedAccuracy, one.pairs)}</td>
          ${hasGains ? html`<td class="number">${withRange(one.gains)}</td>` : nothing}
          <td class="number">${number(one.correlation, 2)}</td>
          <td class="number">${number(one.spread, 3)}</td>
          <td class="number">${number(one.untrainedSpread, 3)}</td>
          <td class="number">${one.candidates === null ? '–' : grouped(one.candidates)}</td>`,
    ),
  );
}

export function runTable(runs: readonly ComparedRun[], open: (run: number) => void): TemplateResult {
  return table(
    t('Runs'),
    [t('Run'), t('State'), t('Method'), t('Training data')],
    runs.map(
      ({ name, stateLabel, subject, data }, index) =>
        html`<th scope="row">${linkButton(name, () => open(index), t('Open the run'))}</th>
          <td>${stateLabel}</td>
          <td>${subject}</td>
          <td>${data === '' ? '–' : data}</td>`,
    ),
  );
}
