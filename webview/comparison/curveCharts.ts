import { html, nothing, svg, type TemplateResult } from 'lit';
import { drawn, type Picture } from '../chart/chart';
import {
  placed,
  latestWithin,
  nearestWithin,
  openedWithDots,
  smoothed,
  smoothedWords,
  some,
  undrawnWords,
  type RunCurves,
  type LinePoint,
  type PlacedPoint,
} from '../chart/curves';
import { durationWords, placeWords } from '../chart/axis';
import { curvesCsv } from '../chart/curvesCsv';
import { canBeLogarithmic, figures, type FigureStyle } from '../chart/figures';
import { pinnedCharts, pinningOf, chartSection, type TitledChart } from '../chart/section';
import {
  chartKey,
  type Axis,
  type ChartName,
  type Choice,
  type FigureName,
  type Look,
} from '../chart/protocol';
import { inRange, zoomOf, isIn, lineInRange, type Zoom } from '../chart/steps';
import { t } from '../language';
import type { PageFile } from '../saving/protocol';
import { inlineSelect } from '../ui/inline';
import type { ComparisonView } from './protocol';
import { numberColumn, table } from '../ui/table';
import { grouped } from '../language/numbers';

interface Courses {
  readonly shown: ComparisonView;
  /** By chart key; one entry for each run, in the order of `shown.runs`. */
  readonly curves: ReadonlyMap<string, readonly RunCurves[]>;
  readonly look: Look;
  readonly isHeldOut: boolean;
  /** Ids of runs whose lines are switched off. */
  readonly switchedOff: readonly string[];
  readonly onChoose: (choice: Choice) => void;
  readonly onPin: (chart: ChartName, isPinned: boolean) => void;
  readonly onLook: (look: Look) => void;
  readonly onHeldOut: (isHeldOut: boolean) => void;
  readonly onSwitch: (switchedOff: readonly string[]) => void;
  readonly onSave: (file: PageFile) => void;
}

export function courses(of: Courses): TemplateResult {
  const { shown, look, onLook, onChoose, onHeldOut, onPin } = of;
  const { stage, stages, figure: name, pinned } = shown;
  const curves = curvesOf(of, shown);
  const canBeHeldOut = hasHeldOut(curves);
  const isHeldOut = of.isHeldOut && canBeHeldOut;
  const chart = chartOf(of, shown);
  return html`${chartSection({
    ...{ figure: figures[name], chart, look, onLook, isAsMeasured: isHeldOut },
    pinning: pinningOf(pinned, { stage, figure: name }, onPin),
    selects: [
      inlineSelect(
        t('Stage'),
        stages.map((one) => ({ value: one.name, label: one.label })),
        stage,
        (value) => onChoose({ stage: value }),
      ),
      inlineSelect(
        t('Metric'),
        shown.figures.map((one) => ({ value: one, label: figures[one].title })),
        name,
        (value) => onChoose({ figure: value as FigureName }),
      ),
    ],
    settings: [
      inlineSelect(
        t('Measured on'),
        [
          { value: 'training', label: t('training data') },
          { value: 'held-out', label: t('held-out tasks') },
        ],
        isHeldOut ? 'held-out' : 'training',
        (value) => onHeldOut(value === 'held-out'),
        canBeHeldOut ? undefined : t('No run has measured this on held-out tasks.'),
      ),
    ],
    name: chart.title,
    csv: () =>
      curvesCsv(
        stage,
        name,
        shown.runs.flatMap((run, index) =>
          curves[index] === undefined || of.switchedOff.includes(run.id)
            ? []
            : [{ run: run.name, ...curves[index] }],
        ),
      ),
    onSave: of.onSave,
    legend: legend(of, t('Runs in the chart'), curves),
  })}
  ${pinnedCharts({
    ...{ pinned, look, onLook },
    draw: (one) => pinnedChart(of, one),
    from: (one) => [curvesOf(of, one), shown, of.isHeldOut, of.switchedOff],
    onOpen: onChoose,
    onUnpin: (one) => onPin(one, false),
    legend: legend(of, t('Runs in the pinned charts')),
  })}`;
}

const curvesOf = ({ curves }: Courses, chart: ChartName): readonly RunCurves[] =>
  curves.get(chartKey(chart)) ?? [];

const hasHeldOut = (curves: readonly RunCurves[]): boolean =>
  curves.some(({ heldOut }) => heldOut.points.length > 0);

/** The title says that it is of held-out tasks, because no list beside it does. */
function pinnedChart(of: Courses, name: ChartName): TitledChart {
  const chart = chartOf(of, name);
  const isHeldOut = of.isHeldOut && hasHeldOut(curvesOf(of, name));
  return isHeldOut ? { ...chart, title: t('{0}, held out', chart.title) } : chart;
}

/** Shows training data where no run has held-out values. */
function chartOf(of: Courses, { stage, figure: name }: ChartName): TitledChart {
  const { shown, look, switchedOff } = of;
  const curves = curvesOf(of, { stage, figure: name });
  const figure = figures[name];
  const isHeldOut = of.isHeldOut && hasHeldOut(curves);
  const lines = shown.runs.flatMap(({ id, name: run }, index): Line[] => {
    const points = (isHeldOut ? curves[index]?.heldOut : curves[index]?.training)?.points ?? [];
    return switchedOff.includes(id) || points.length === 0
      ? []
      : [{ index, name: run, points: placed(points, look.axis) }];
  });
  const { axis } = look;
  const isLogarithmic = look.isLogarithmic && canBeLogarithmic(figure);
  const zoom = zoomOf(
    look,
    stage,
    lines.map(({ points }) => points),
  );
  const looked = lines.map((line) => ({ ...line, points: inRange(line.points, zoom.shown) }));
  const drawing = {
    ...{ figure, smoothing: isHeldOut ? 0 : look.smoothing, isLogarithmic, zoom },
    key: [stage, name, isHeldOut, isLogarithmic, ...switchedOff].join(' '),
  };
  const title = t('{0} of {1}', figure.title, shown.stages.find((one) => one.name === stage)?.label ?? stage);
  const missing = undrawn(lines, drawing);
  const words = [described(title, figure, looked, axis), missing];
  return {
    ...{ title, zoom },
    picture: (onSteps) => drawn(pictureOf(lines, drawing), words, onSteps),
    undrawn: missing,
    table: (label) => curveTable(label, figure, looked, axis),
  };
}

/** @param curves those of the chosen chart; absent for the pinned charts */
function legend(
  { shown, switchedOff, onSwitch }: Courses,
  label: string,
  curves?: readonly RunCurves[],
): TemplateResult {
  return html`<div class="legend" role="group" aria-label=${label}>
    ${shown.runs.map(({ id, name }, index) => {
      const isOff = switchedOff.includes(id);
      return html`<button
        type="button"
        class="switch"
        aria-pressed=${!isOff}
        title=${isOff ? t('Show this run') : t('Hide this run')}
        @click=${() => onSwitch(isOff ? switchedOff.filter((one) => one !== id) : [...switchedOff, id])}
      >
        ${sample(index)}<span>${name}</span>${
          curves !== undefined && (curves[index]?.training.points.length ?? 0) === 0
            ? html`<span class="quiet">${t('no such metric')}</span>`
            : nothing
        }
      </button>`;
    })}
  </div>`;
}

function described(title: string, figure: FigureStyle, lines: readonly Line[], axis: Axis): string {
  const courses = lines.flatMap(({ name, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return [];
    return t(
      '{0}: from {1} at {2} to {3} at {4}',
      ...[name, figure.format(first.mean), placeWords(first.x, axis)],
      ...[figure.format(last.mean), placeWords(last.x, axis)],
    );
  });
  return `${[title, ...courses].join('. ')}.`;
}

interface Line {
  /** Decides colour and dashes among all runs, so that they stay when other lines are hidden. */
  readonly index: number;
  readonly name: string;
  readonly points: readonly PlacedPoint[];
}

/** In pixels; lines can be told apart without colours. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [11, 3, 2, 3], [16, 4]];

const dashesOf = (index: number): readonly number[] => DASHES[index % DASHES.length]!;

interface Drawing {
  readonly figure: FigureStyle;
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly zoom: Zoom;
  readonly key: string;
}

export function pictureOf(
  lines: readonly Line[],
  { figure, smoothing, isLogarithmic, zoom, key }: Drawing,
): Picture {
  return {
    ...{ figure, isLogarithmic, zoom, key },
    series: ({ palette }) =>
      lines.map(({ index, points }) => {
        const dashes = dashesOf(index);
        const color = palette[index % palette.length]!;
        return {
          type: 'line',
          id: String(index),
          silent: true,
          symbol: 'none',
          symbolSize: 7,
          itemStyle: { color },
          lineStyle: { color, width: 2, type: dashes.length === 0 ? 'solid' : [...dashes] },
          data: openedWithDots(lineInRange(lineOf(points, smoothing), zoom.shown), isLogarithmic),
        };
      }),
    hover: (x) => hover(lines, figure, zoom.axis, x),
    legend: ({ palette }) =>
      lines.map(({ index, name }) => ({
        label: smoothedWords(name, smoothing),
        color: palette[index % palette.length]!,
        dashes: dashesOf(index),
      })),
  };
}

function lineOf(points: readonly PlacedPoint[], smoothing: number): LinePoint[] {
  const means = smoothed(
    points.map(({ mean }) => mean),
    smoothing,
  );
  return points.map(({ x }, index) => [x, means[index]!]);
}

/** Empty when the picture has all points. */
export function undrawn(lines: readonly Line[], { smoothing, isLogarithmic, zoom }: Drawing): string {
  const places = lines.flatMap(({ points }) => lineOf(points, smoothing));
  const values = places.flatMap(([x, value]) => (isIn(x, zoom.shown) ? [value] : []));
  return undrawnWords(values, isLogarithmic);
}

/** Leaves out runs whose curve does not reach the place. */
function hover(lines: readonly Line[], figure: FigureStyle, axis: Axis, x: number): string {
  const at = axis === 'step' ? Math.round(x) : x;
  const values = lines.flatMap(({ name, points }) => {
    const point = nearestWithin(points, at);
    if (point === undefined) return [];
    const value = figure.format(point.mean);
    return axis === 'step' && point.step === at
      ? t('{0}: {1}', name, value)
      : t('{0}: {1} (step {2})', name, value, grouped(point.step));
  });
  return [placeWords(at, axis), ...values].join('\n');
}

const sample = (index: number): TemplateResult =>
  html`<svg
    class="sample line-${index % DASHES.length}"
    viewBox="0 0 34 6"
    aria-hidden="true"
    focusable="false"
  >
    ${svg`<line x1="0" y1="3" x2="34" y2="3" stroke-dasharray=${dashesOf(index).join(' ')} />`}
  </svg>`;

const MAX_ROWS = 40;

/** For people who cannot see the picture. */
function curveTable(label: string, figure: FigureStyle, lines: readonly Line[], axis: Axis): TemplateResult {
  const places = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const rows = some(places, MAX_ROWS);
  const cell = (points: readonly PlacedPoint[], index: number): string => {
    const point = latestWithin(points, rows[index - 1] ?? -1, rows[index]!);
    return point === undefined ? '' : figure.format(point.mean);
  };
  return table(
    label,
    [axis === 'step' ? t('Step') : t('Training time'), ...lines.map(({ name }) => name)].map(numberColumn),
    rows.map(
      (x, index) =>
        html`<th scope="row" class="number">${axis === 'step' ? grouped(x) : durationWords(x)}</th>
          ${lines.map(({ points }) => html`<td class="number">${cell(points, index)}</td>`)}`,
    ),
  );
}
