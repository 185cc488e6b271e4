import { html, nothing, type TemplateResult } from 'lit';
import { drawn, type Picture } from '../chart/chart';
import {
  latestWithin,
  nearest,
  nearestWithin,
  opened,
  openedWithDots,
  outline,
  smoothed,
  some,
  undrawnWords,
  type LinePoint,
  type Point,
} from '../chart/curves';
import { figures, type FigureStyle } from '../chart/figures';
import type { FigureName, Look } from '../chart/protocol';
import { chartSection, zoomHint } from '../chart/section';
import { inRange, isIn, lineInRange, zoomOf, type Zoom } from '../chart/steps';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { inlineSelect } from '../ui/inline';
import { numberColumn, table } from '../ui/table';
import type { Theme } from '../ui/theme';
import type { RunView } from './protocol';

export interface CourseView {
  readonly shown: RunView;
  readonly training: readonly Point[];
  readonly heldOut: readonly Point[];
  readonly stepsPerPoint: number;
  readonly look: Look;
  readonly onFigure: (figure: FigureName) => void;
  readonly onLook: (look: Look) => void;
}

/** Draws the curves of one figure of a stage, on training data and on held-out data. */
export function course(of: CourseView): TemplateResult {
  const { shown, look, stepsPerPoint, onFigure, onLook } = of;
  const { figures: all, figure: name, stage, stages } = shown;
  const figure = figures[name];
  const { smoothing, isLogarithmic, steps } = look;
  const zoom = zoomOf(steps, stage, [of.training, of.heldOut]);
  const training = inRange(of.training, zoom.shown);
  const heldOut = inRange(of.heldOut, zoom.shown);
  const drawing: Drawing = {
    ...{ figure, training: of.training, heldOut: of.heldOut, smoothing, isLogarithmic, zoom },
    untrained: all.find((one) => one.name === name)?.untrained,
    key: [stage, name, isLogarithmic].join(' '),
  };
  const stageLabel = stages.find((one) => one.name === stage)?.label ?? stage;
  const missing = undrawn(drawing);
  const words = [described({ ...drawing, training, heldOut }, stageLabel), missing];
  return chartSection({
    ...{ figure, look, zoom, onLook },
    title: t('{0} of {1}', figure.title, stageLabel),
    selects: [
      inlineSelect(
        t('Metric'),
        all.map((one) => ({ value: one.name, label: figures[one.name].title })),
        name,
        (value) => onFigure(value as FigureName),
      ),
    ],
    chart: (onSteps) => drawn(pictureOf(drawing), words, onSteps),
    undrawn: missing,
    table: () => curveTable(figure, training, heldOut),
    legend: html`<p class="legend quiet">
      <span class="key training">${t('training')}</span>
      ${
        of.heldOut.length === 0
          ? nothing
          : html`<span class="key held-out">${t('held-out tasks, which are never trained on')}</span>`
      }
      ${
        drawing.untrained === undefined
          ? nothing
          : html`<span class="key untrained"
              >${t('untrained baseline on the same pairs: {0}', figure.format(drawing.untrained))}</span
            >`
      }
      ${
        stepsPerPoint === 1
          ? nothing
          : html`<span>${t('A point is the mean of {0} steps.', grouped(stepsPerPoint))}</span>`
      }
      ${zoomHint(look)}
    </p>`,
  });
}

/** Describes the picture for screen readers. */
function described({ figure, training, heldOut, untrained }: Drawing, stage: string): string {
  const [first, last] = [training[0], training.at(-1)];
  if (first === undefined || last === undefined) return t('{0} of {1}', figure.title, stage);
  const course = t(
    '{0} of {1}, from {2} at step {3} to {4} at step {5}.',
    figure.title,
    stage,
    figure.format(first.mean),
    first.step,
    figure.format(last.mean),
    last.step,
  );
  const measured = heldOut.at(-1);
  return [
    course,
    ...(measured === undefined
      ? []
      : [t('Held out {0} at step {1}.', figure.format(measured.mean), measured.step)]),
    ...(untrained === undefined ? [] : [t('Untrained baseline: {0}.', figure.format(untrained))]),
  ].join(' ');
}

const MOST_ROWS = 40;

/** Shows some steps of the curves, at even intervals, as a table for people who cannot see the picture. */
function curveTable(
  figure: FigureStyle,
  training: readonly Point[],
  heldOut: readonly Point[],
): TemplateResult {
  // Held-out examples are also measured before the first training step.
  const early = heldOut.filter(({ step }) => step < (training[0]?.step ?? Infinity));
  const rows = [...some(early, MOST_ROWS), ...some(training, MOST_ROWS)];
  const isMean = training.some(({ low, high }) => low !== high);
  const cell = (value: number | undefined): string => (value === undefined ? '' : figure.format(value));
  return table(
    figure.title,
    html`<thead>
        <tr>
          ${numberColumn(t('Step'))} ${numberColumn(t('Training'))}
          ${isMean ? [numberColumn(t('Lowest')), numberColumn(t('Highest'))] : nothing}
          ${heldOut.length === 0 ? nothing : numberColumn(t('Held-out'))}
        </tr>
      </thead>
      <tbody>
        ${rows.map(({ step }, index) => {
          const before = rows[index - 1]?.step ?? -1;
          const at = latestWithin(training, before, step);
          const values = [
            at?.mean,
            ...(isMean ? [at?.low, at?.high] : []),
            ...(heldOut.length === 0 ? [] : [latestWithin(heldOut, before, step)?.mean]),
          ];
          return html`<tr>
            <th scope="row" class="number">${grouped(step)}</th>
            ${values.map((value) => html`<td class="number">${cell(value)}</td>`)}
          </tr>`;
        })}
      </tbody>`,
  );
}

/** The curves of one figure of a run, and the options for drawing them. */
export interface Drawing {
  readonly figure: FigureStyle;
  readonly training: readonly Point[];
  readonly heldOut: readonly Point[];
  /** Value of the untrained baseline; absent for figures without this control. */
  readonly untrained?: number | undefined;
  /** Weight of the past in the moving average, 0 to below 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly zoom: Zoom;
  readonly key: string;
}

export const pictureOf = (drawing: Drawing): Picture => ({
  ...drawing,
  series: (theme) => seriesOf(drawing, theme),
  hover: (step) => hover(drawing, step),
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
      data: openedWithDots(seen(training.map(({ step }, index) => [step, means[index]!])), isLogarithmic),
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
      data: openedWithDots(seen(heldOut.map(({ step, mean }) => [step, mean])), isLogarithmic),
    },
    ...(drawing.untrained === undefined ? [] : [level(drawing.untrained, theme)]),
  ];
}

const meansOf = ({ training, smoothing }: Drawing): number[] =>
  smoothed(
    training.map(({ mean }) => mean),
    smoothing,
  );

/** Says how many points the picture lacks; empty when it has all. */
export function undrawn(drawing: Drawing): string {
  const { training, heldOut, isLogarithmic, zoom } = drawing;
  const means = meansOf(drawing);
  const values = [
    ...training.map(({ step, low }, index): LinePoint => [step, Math.min(low, means[index]!)]),
    ...heldOut.map(({ step, mean }): LinePoint => [step, mean]),
  ].flatMap(([step, value]) => (isIn(step, zoom.shown) ? [value] : []));
  return undrawnWords(values, isLogarithmic);
}

/** Draws the untrained baseline across the whole picture: it exists before the first step and does not change. */
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

/** Returns the tooltip: the values at a step. */
function hover({ figure, training, heldOut }: Drawing, step: number): string {
  const at = Math.round(step);
  const [trained, measured] = [nearestWithin(training, at), nearest(heldOut, at)];
  const lines = [t('step {0}', grouped(at))];
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
