import { html, nothing, type TemplateResult } from 'lit';
import type { Picture } from '../chart/chart';
import {
  latestWithin,
  nearest,
  nearestWithin,
  opened,
  openedWithDots,
  outline,
  smoothed,
  smoothedWords,
  some,
  undrawnWords,
  type LinePoint,
  type PlacedPoint,
} from '../chart/curves';
import type { FigureStyle } from '../chart/figures';
import { durationWords, placeWords } from '../chart/axis';
import type { Axis } from '../chart/protocol';
import { isIn, lineInRange, type Zoom } from '../chart/steps';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { numberColumn, table } from '../ui/table';
import type { Theme } from '../ui/theme';

export interface Drawing {
  readonly figure: FigureStyle;
  readonly training: readonly PlacedPoint[];
  readonly heldOut: readonly PlacedPoint[];
  readonly untrained?: number | undefined;
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly zoom: Zoom;
  readonly key: string;
}

export const pictureOf = (drawing: Drawing): Picture => ({
  ...drawing,
  series: (theme) => seriesOf(drawing, theme),
  hover: (x) => hover(drawing, x),
  legend: ({ series, second, quiet }) => [
    { label: smoothedWords(t('training'), drawing.smoothing), color: series, dashes: [] },
    ...(drawing.heldOut.length === 0
      ? []
      : [{ label: t('held-out tasks, which are never trained on'), color: second, dashes: [6, 4] }]),
    ...(drawing.untrained === undefined
      ? []
      : [
          {
            label: t('untrained baseline on the same pairs: {0}', drawing.figure.format(drawing.untrained)),
            color: quiet,
            dashes: [2, 3],
          },
        ]),
  ],
});

function seriesOf(drawing: Drawing, theme: Theme): object[] {
  const { training, heldOut, isLogarithmic, zoom } = drawing;
  const means = meansOf(drawing);
  const seen = (line: readonly LinePoint[]): readonly LinePoint[] => lineInRange(line, zoom.shown);
  const plainLine = { type: 'line', symbol: 'none', silent: true };
  return [
    {
      ...plainLine,
      id: 'all',
      lineStyle: { color: theme.series, width: 1, opacity: 0.3 },
      data: opened(seen(outline(training)), isLogarithmic),
    },
    {
      ...plainLine,
      id: 'training',
      lineStyle: { color: theme.series, width: 2 },
      symbolSize: 7,
      itemStyle: { color: theme.series },
      data: openedWithDots(seen(training.map(({ x }, index) => [x, means[index]!])), isLogarithmic),
    },
    {
      type: 'line',
      id: 'held-out',
      // More than 60 circles would fill the gaps of the dashed line.
      symbol: heldOut.length <= 60 ? 'circle' : 'none',
      symbolSize: 7,
      silent: true,
      lineStyle: { color: theme.second, width: 2, type: 'dashed' },
      itemStyle: { color: theme.second },
      data: openedWithDots(seen(heldOut.map(({ x, mean }) => [x, mean])), isLogarithmic),
    },
    ...(drawing.untrained === undefined ? [] : [level(drawing.untrained, theme)]),
  ];
}

const meansOf = ({ training, smoothing }: Drawing): number[] =>
  smoothed(
    training.map(({ mean }) => mean),
    smoothing,
  );

/** Empty when the picture has all points. */
export function undrawn(drawing: Drawing): string {
  const { training, heldOut, isLogarithmic, zoom } = drawing;
  const means = meansOf(drawing);
  const values = [
    ...training.map(({ x, low }, index): LinePoint => [x, Math.min(low, means[index]!)]),
    ...heldOut.map(({ x, mean }): LinePoint => [x, mean]),
  ].flatMap(([x, value]) => (isIn(x, zoom.shown) ? [value] : []));
  return undrawnWords(values, isLogarithmic);
}

/** The untrained baseline exists before the first step and does not change, so it crosses the whole picture. */
const level = (at: number, theme: Theme): object => ({
  type: 'line',
  id: 'untrained',
  silent: true,
  data: [],
  markLine: {
    silent: true,
    symbol: 'none',
    label: { show: false },
    lineStyle: { color: theme.quiet, width: 1.5, type: 'dotted' },
    data: [{ yAxis: at }],
  },
});

function hover({ figure, training, heldOut, zoom: { axis } }: Drawing, x: number): string {
  const at = axis === 'step' ? Math.round(x) : x;
  const [trained, measured] = [nearestWithin(training, at), nearest(heldOut, at)];
  const head = placeWords(at, axis);
  const lines = [
    axis === 'time' && trained !== undefined ? `${head}, ${placeWords(trained.step, 'step')}` : head,
  ];
  if (trained !== undefined) {
    const { mean, low, high } = trained;
    lines.push(
      low === high
        ? t('training {0}', figure.format(mean))
        : t('training {0} ({1} to {2})', figure.format(mean), figure.format(low), figure.format(high)),
    );
  }
  if (measured !== undefined)
    lines.push(t('held out {0} (step {1})', figure.format(measured.mean), grouped(measured.step)));
  return lines.join('\n');
}

export function described({ figure, training, heldOut, untrained, zoom }: Drawing, stage: string): string {
  const { axis } = zoom;
  const [first, last] = [training[0], training.at(-1)];
  if (first === undefined || last === undefined) return t('{0} of {1}', figure.title, stage);
  const course = t(
    '{0} of {1}, from {2} at {3} to {4} at {5}.',
    figure.title,
    stage,
    figure.format(first.mean),
    placeWords(first.x, axis),
    figure.format(last.mean),
    placeWords(last.x, axis),
  );
  const measured = heldOut.at(-1);
  return [
    course,
    ...(measured === undefined
      ? []
      : [t('Held out {0} at {1}.', figure.format(measured.mean), placeWords(measured.x, axis))]),
    ...(untrained === undefined ? [] : [t('Untrained baseline: {0}.', figure.format(untrained))]),
  ].join(' ');
}

const MAX_ROWS = 40;

/** For people who cannot see the picture. */
export function curveTable(
  label: string,
  figure: FigureStyle,
  training: readonly PlacedPoint[],
  heldOut: readonly PlacedPoint[],
  axis: Axis,
): TemplateResult {
  // Held-out examples are also measured before the first training step.
  const early = heldOut.filter(({ x }) => x < (training[0]?.x ?? Infinity));
  const rows = [...some(early, MAX_ROWS), ...some(training, MAX_ROWS)];
  const isMean = training.some(({ low, high }) => low !== high);
  const cell = (value: number | undefined): string => (value === undefined ? '' : figure.format(value));
  return table(
    label,
    [
      axis === 'time' ? numberColumn(t('Training time')) : nothing,
      numberColumn(t('Step')),
      numberColumn(t('Training')),
      ...(isMean ? [numberColumn(t('Lowest')), numberColumn(t('Highest'))] : []),
      heldOut.length === 0 ? nothing : numberColumn(t('Held-out')),
    ],
    rows.map(({ x, step, seconds }, index) => {
      const before = rows[index - 1]?.x ?? -1;
      const at = latestWithin(training, before, x);
      const values = [
        at?.mean,
        ...(isMean ? [at?.low, at?.high] : []),
        ...(heldOut.length === 0 ? [] : [latestWithin(heldOut, before, x)?.mean]),
      ];
      return html`${rowHead(axis, step, seconds)}
      ${values.map((value) => html`<td class="number">${cell(value)}</td>`)}`;
    }),
  );
}

const rowHead = (axis: Axis, step: number, seconds: number): TemplateResult =>
  axis === 'step'
    ? html`<th scope="row" class="number">${grouped(step)}</th>`
    : html`<th scope="row" class="number">${durationWords(seconds)}</th>
        <td class="number">${grouped(step)}</td>`;
