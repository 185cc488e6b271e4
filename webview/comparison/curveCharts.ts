import { html, nothing, svg, type TemplateResult } from 'lit';
import { nearestWithin, placed, type ChartedCurves, type RunCurves, curvesCsv } from '../chart/curves';
import { placeWords } from '../chart/axis';
import { PALETTE } from '../chart/canvas';
import { figures, type FigureStyle } from '../chart/figures';
import { lineChart, type Line } from '../chart/lines';
import { pinnedCharts, chartSection, type TitledChart } from '../chart/section';
import {
  chartKey,
  type Axis,
  type ChartName,
  type Choice,
  type FigureName,
  type Look,
} from '../chart/protocol';
import { t, grouped } from '../language';
import { inlineSelect } from '../ui';
import type { ComparisonView } from './protocol';

/** What the person chose to see. */
export interface ChosenLines {
  readonly look: Look;
  readonly isHeldOut: boolean;
  /** Ids of runs whose lines are switched off. */
  readonly switchedOff: readonly string[];
}

interface Courses extends ChosenLines {
  readonly shown: ComparisonView;
  /** Of the runs in the order of `shown.runs`. */
  readonly curves: ChartedCurves;
  readonly onChoose: (choice: Choice) => void;
  readonly see: (how: Partial<ChosenLines>) => void;
}

export function courses(of: Courses): TemplateResult {
  const { shown, look, onChoose, see } = of;
  const onLook = (chosen: Look): void => see({ look: chosen });
  const { stage, stages, figure: name, pinned } = shown;
  const curves = curvesOf(of, shown);
  const canBeHeldOut = hasHeldOut(curves);
  const isHeldOut = of.isHeldOut && canBeHeldOut;
  const chart = chartOf(of, shown);
  return html`${chartSection({
    ...{ figure: figures[name], chart, look, onLook, isAsMeasured: isHeldOut },
    ...{ pinned, chosen: { stage, figure: name } },
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
        (value) => see({ isHeldOut: value === 'held-out' }),
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
    legend: legend(of, t('Runs in the chart'), curves),
  })}
  ${pinnedCharts({
    ...{ pinned, look, onLook },
    draw: (one) => pinnedChart(of, one),
    from: (one) => [curvesOf(of, one), shown, of.isHeldOut, of.switchedOff],
    onOpen: onChoose,
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

/** Shows training data where no run has held-out values. Hidden lines leave the others their colours and dashes. */
function chartOf(of: Courses, { stage, figure: name }: ChartName): TitledChart {
  const { shown, look, switchedOff } = of;
  const curves = curvesOf(of, { stage, figure: name });
  const isHeldOut = of.isHeldOut && hasHeldOut(curves);
  const lines = shown.runs.flatMap(({ id, name: run }, index): Line[] => {
    const points = (isHeldOut ? curves[index]?.heldOut : curves[index]?.training)?.points ?? [];
    if (switchedOff.includes(id) || points.length === 0) return [];
    return [
      {
        ...{ id: `${isHeldOut ? 'held-out' : 'training'} ${index}`, name: run, label: run },
        ...{ points: placed(points, look.axis), dashes: dashesOf(index) },
        color: ({ palette }) => palette[index % palette.length]!,
        smoothing: isHeldOut ? 0 : look.smoothing,
      },
    ];
  });
  const figure = figures[name];
  return lineChart({
    ...{ chart: { stage, figure: name }, look, lines, isOneRun: false },
    stageLabel: shown.stages.find((one) => one.name === stage)?.label ?? stage,
    hover: (x) => hover(lines, figure, look.axis, x),
    described: (title, inSight) => described(title, figure, inSight, look.axis),
  });
}

/** @param curves those of the chosen chart; absent for the pinned charts */
function legend(
  { shown, switchedOff, see }: Courses,
  label: string,
  curves?: readonly RunCurves[],
): TemplateResult {
  return html`<div class="legend" role="group" aria-label=${label}>
    ${shown.runs.map(({ id, name }, index) => {
      const isOff = switchedOff.includes(id);
      const others = switchedOff.filter((one) => one !== id);
      return html`<button
        type="button"
        class="switch"
        aria-pressed=${!isOff}
        title=${isOff ? t('Show this run') : t('Hide this run')}
        @click=${() => see({ switchedOff: isOff ? others : [...others, id] })}
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

/** In pixels; lines can be told apart without colours. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [11, 3, 2, 3], [16, 4]];

const dashesOf = (index: number): readonly number[] => DASHES[index % DASHES.length]!;

/** Leaves out runs whose curve does not reach the place. */
export function hover(
  lines: readonly Pick<Line, 'name' | 'points'>[],
  figure: FigureStyle,
  axis: Axis,
  x: number,
): string {
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
  html`<svg class="sample" viewBox="0 0 34 6" aria-hidden="true" focusable="false">
    ${svg`<line
      x1="0"
      y1="3"
      x2="34"
      y2="3"
      stroke="var(--vscode-charts-${PALETTE[index % PALETTE.length]}, var(--vscode-textLink-foreground))"
      stroke-width="2"
      stroke-dasharray=${dashesOf(index).join(' ')}
    />`}
  </svg>`;
