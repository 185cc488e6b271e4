import { html, nothing, type TemplateResult } from 'lit';
import { drawn } from '../chart/chart';
import { latestWithin, noCurves, placed, some, type PlacedPoint, type RunCurves } from '../chart/curves';
import { curvesCsv } from '../chart/curvesCsv';
import { canBeLogarithmic, figures, type FigureStyle } from '../chart/figures';
import { durationWords, placeWords } from '../chart/axis';
import { pinnedCharts, pinningOf, chartSection, type TitledChart } from '../chart/section';
import {
  chartKey,
  type Axis,
  type ChartName,
  type Choice,
  type FigureName,
  type Look,
} from '../chart/protocol';
import { inRange, zoomOf } from '../chart/steps';
import { t } from '../language';
import { grouped } from '../language/numbers';
import type { PageFile } from '../saving/protocol';
import { inlineSelect } from '../ui/inline';
import { numberColumn, table } from '../ui/table';
import { pictureOf, undrawn, type Drawing } from './lines';
import type { RunView } from './protocol';

interface CourseView {
  readonly shown: RunView;
  /** By chart key. */
  readonly curves: ReadonlyMap<string, RunCurves>;
  readonly look: Look;
  readonly onChoose: (choice: Choice) => void;
  readonly onPin: (chart: ChartName, isPinned: boolean) => void;
  readonly onLook: (look: Look) => void;
  readonly onSave: (file: PageFile) => void;
}

export function course(of: CourseView): TemplateResult {
  const { shown, look, onChoose, onPin, onLook, onSave } = of;
  const { figures: choices, figure: name, stage, pinned } = shown;
  const figure = figures[name];
  const untrained = choices.find((one) => one.name === name)?.untrained;
  const curves = curvesOf(of, shown);
  const chart = chartOf(of, { ...shown, untrained });
  return html`${chartSection({
    ...{ figure, chart, look, onLook, onSave },
    pinning: pinningOf(pinned, { stage, figure: name }, onPin),
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
    onUnpin: (one) => onPin(one, false),
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
  curves.get(chartKey(chart)) ?? noCurves;

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
  const figure = figures[name];
  const { smoothing, axis } = look;
  const isLogarithmic = look.isLogarithmic && canBeLogarithmic(figure);
  const [all, measured] = [placed(curves.training.points, axis), placed(curves.heldOut.points, axis)];
  const zoom = zoomOf(look, stage, [all, measured]);
  const training = inRange(all, zoom.shown);
  const heldOut = inRange(measured, zoom.shown);
  const drawing: Drawing = {
    ...{ figure, training: all, heldOut: measured, untrained, smoothing, isLogarithmic, zoom },
    key: [stage, name, isLogarithmic].join(' '),
  };
  const label = stageLabel(shown, stage);
  const missing = undrawn(drawing);
  const words = [described({ ...drawing, training, heldOut }, label), missing];
  return {
    title: t('{0} of {1}', figure.title, label),
    zoom,
    picture: (onSteps) => drawn(pictureOf(drawing), words, onSteps),
    undrawn: missing,
    table: (tableLabel) => curveTable(tableLabel, figure, training, heldOut, axis),
  };
}

function described({ figure, training, heldOut, untrained, zoom }: Drawing, stage: string): string {
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
function curveTable(
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
