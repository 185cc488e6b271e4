import { html, nothing, type TemplateResult } from 'lit';
import {
  nearest,
  nearestWithin,
  noCurves,
  placed,
  type ChartedCurves,
  type PlacedPoint,
  type RunCurves,
  curvesCsv,
} from '../chart/curves';
import { placeWords } from '../chart/axis';
import { figures, type FigureStyle } from '../chart/figures';
import { lineChart, type Drawing, type Line } from '../chart/lines';
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
import type { RunView } from './protocol';

interface CourseView {
  readonly shown: RunView;
  readonly curves: ChartedCurves;
  readonly look: Look;
  readonly onChoose: (choice: Choice) => void;
  readonly onLook: (look: Look) => void;
}

export function course(of: CourseView): TemplateResult {
  const { shown, look, onChoose, onLook } = of;
  const { figures: choices, figure: name, stage, pinned } = shown;
  const figure = figures[name];
  const untrained = choices.find((one) => one.name === name)?.untrained;
  const curves = curvesOf(of, shown);
  const chart = chartOf(of, { ...shown, untrained });
  return html`${chartSection({
    ...{ figure, chart, look, onLook },
    ...{ pinned, chosen: { stage, figure: name } },
    selects: [
      inlineSelect(
        t('Metric'),
        choices.map((one) => ({ value: one.name, label: figures[one.name].title })),
        name,
        (value) => onChoose({ figure: value as FigureName }),
      ),
    ],
    name: [shown.name, chart.title].join(', '),
    csv: () => curvesCsv(stage, name, [{ run: shown.name, ...curves }]),
    legend: html`<p class="legend quiet">
      ${lineKeys(curves.heldOut.points.length > 0)}
      ${
        untrained === undefined
          ? nothing
          : html`<span class="key untrained"
              >${t('untrained baseline on the same pairs: {0}', figure.format(untrained))}</span
            >`
      }
      ${
        curves.training.valuesPerPoint === 1
          ? nothing
          : html`<span
              >${t('A point is the mean of {0} steps.', grouped(curves.training.valuesPerPoint))}</span
            >`
      }
    </p>`,
  })}
  ${pinnedCharts({
    ...{ pinned, look, onLook },
    draw: (one) => chartOf(of, one),
    from: (one) => [curvesOf(of, one), stageLabel(shown, one.stage), one.untrained],
    // Without a chosen stage the page follows the run to its next one.
    onOpen: (one) => onChoose(one.stage === stage ? { figure: one.figure } : one),
    legend: html`<p class="legend quiet">
      ${lineKeys(pinned.some((one) => curvesOf(of, one).heldOut.points.length > 0))}
      ${
        pinned.some((one) => one.untrained !== undefined)
          ? html`<span class="key untrained">${t('untrained baseline on the same pairs')}</span>`
          : nothing
      }
    </p>`,
  })}`;
}

const curvesOf = ({ curves }: Pick<CourseView, 'curves'>, chart: ChartName): RunCurves =>
  curves.get(chartKey(chart))?.[0] ?? noCurves;

const stageLabel = ({ stages }: RunView, stage: string): string =>
  stages.find((one) => one.name === stage)?.label ?? stage;

const lineKeys = (isHeldOut: boolean): TemplateResult =>
  html`<span class="key">${t('training')}</span> ${
      isHeldOut
        ? html`<span class="key held-out">${t('held-out tasks, which are never trained on')}</span>`
        : nothing
    }`;

function chartOf(
  of: Pick<CourseView, 'shown' | 'curves' | 'look'>,
  { stage, figure: name, untrained }: ChartName & Pick<Drawing, 'untrained'>,
): TitledChart {
  const { shown, look } = of;
  const curves = curvesOf(of, { stage, figure: name });
  const training = placed(curves.training.points, look.axis);
  const heldOut = placed(curves.heldOut.points, look.axis);
  const figure = figures[name];
  const label = stageLabel(shown, stage);
  return lineChart({
    ...{ chart: { stage, figure: name }, stageLabel: label, look, untrained, isOneRun: true },
    lines: [
      {
        ...{ id: 'training', name: t('Training'), label: t('training'), points: training, dashes: [] },
        ...{ color: ({ series }) => series, smoothing: look.smoothing, hasRange: true },
      },
      {
        ...{ id: 'held-out', name: t('Held-out'), points: heldOut, dashes: [6, 4], smoothing: 0 },
        ...{ label: t('held-out tasks, which are never trained on'), isMarked: true },
        color: ({ second }) => second,
      },
    ],
    hover: (x) => hover(figure, training, heldOut, look.axis, x),
    described: (_, lines) => described(figure, lines, look.axis, label, untrained),
  });
}

function described(
  figure: FigureStyle,
  [training, heldOut]: readonly Line[],
  axis: Axis,
  stage: string,
  untrained: number | undefined,
): string {
  const [first, last] = [training!.points[0], training!.points.at(-1)];
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
  const measured = heldOut!.points.at(-1);
  return [
    course,
    ...(measured === undefined
      ? []
      : [t('Held out {0} at {1}.', figure.format(measured.mean), placeWords(measured.x, axis))]),
    ...(untrained === undefined ? [] : [t('Untrained baseline: {0}.', figure.format(untrained))]),
  ].join(' ');
}

export function hover(
  figure: FigureStyle,
  training: readonly PlacedPoint[],
  heldOut: readonly PlacedPoint[],
  axis: Axis,
  x: number,
): string {
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
