import { html, nothing, type TemplateResult } from 'lit';
import { drawn } from '../chart/chart';
import { placed, type RunCurves } from '../chart/curves';
import { placeWords } from '../chart/axis';
import { curvesCsv } from '../chart/curvesCsv';
import { canBeLogarithmic, figures, type FigureStyle } from '../chart/figures';
import { pinnedCharts, pinningOf, type TitledChart } from '../chart/pinned';
import {
  chartKey,
  type Axis,
  type ChartName,
  type Choice,
  type FigureName,
  type Look,
} from '../chart/protocol';
import { chartSection, zoomHint } from '../chart/section';
import { inRange, zoomOf } from '../chart/steps';
import { t } from '../language';
import type { PageFile } from '../saving/protocol';
import { inlineSelect } from '../ui/inline';
import { pictureOf, sample, undrawn, type Line } from './lines';
import type { ComparisonView } from './protocol';
import { curveTable } from './tables';

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
  { shown, look, switchedOff, onSwitch }: Courses,
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
    ${curves === undefined ? nothing : zoomHint(look)}
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
