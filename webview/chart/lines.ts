import { html, type TemplateResult } from 'lit';
import { t, grouped } from '../language';
import { numberColumn, table } from '../ui/table';
import type { Theme } from './canvas';
import { durationWords, inRange, isIn, lineInRange, zoomOf, type Zoom } from './axis';
import { drawn, type Picture } from './chart';
import {
  latestWithin,
  opened,
  openedWithDots,
  outline,
  smoothed,
  smoothedWords,
  some,
  undrawnWords,
  type LinePoint,
  type PlacedPoint,
} from './curves';
import { canBeLogarithmic, figures, type FigureStyle } from './figures';
import type { Axis, ChartName, Look } from './protocol';
import type { TitledChart } from './section';

/** A curve of a chart. */
export interface Line {
  readonly id: string;
  /** In tables. */
  readonly name: string;
  /** In the legend of a saved picture. */
  readonly label: string;
  readonly points: readonly PlacedPoint[];
  readonly color: (theme: Theme) => string;
  /** In pixels; empty for a solid line. */
  readonly dashes: readonly number[];
  readonly smoothing: number;
  /** Lowest and highest values are drawn behind the means, and are in the table. */
  readonly hasRange?: boolean;
  /** Circles mark its points. */
  readonly isMarked?: boolean;
}

export interface Drawing {
  readonly figure: FigureStyle;
  readonly lines: readonly Line[];
  /** The untrained baseline, which does not change. */
  readonly untrained?: number | undefined;
  readonly isLogarithmic: boolean;
  readonly zoom: Zoom;
  readonly key: string;
  /** Tooltip at a place on the x-axis. */
  readonly hover: (x: number) => string;
}

interface LineChart extends Pick<Drawing, 'lines' | 'untrained' | 'hover'> {
  readonly chart: ChartName;
  readonly stageLabel: string;
  readonly look: Look;
  /** Lines of a single run have a step at each time. */
  readonly isOneRun: boolean;
  /** For screen readers. @param shown lines without the points out of the shown range */
  readonly described: (title: string, shown: readonly Line[]) => string;
}

export function lineChart(of: LineChart): TitledChart {
  const { chart, stageLabel, look, lines, described, isOneRun } = of;
  const figure = figures[chart.figure];
  const isLogarithmic = look.isLogarithmic && canBeLogarithmic(figure);
  const zoom = zoomOf(
    look,
    chart.stage,
    lines.map(({ points }) => points),
  );
  const key = [chart.stage, chart.figure, isLogarithmic, ...lines.map(({ id }) => id)].join(' ');
  const drawing: Drawing = { ...of, figure, isLogarithmic, zoom, key };
  const shown = lines.map((line) => ({ ...line, points: inRange(line.points, zoom.shown) }));
  const title = t('{0} of {1}', figure.title, stageLabel);
  const missing = undrawn(drawing);
  return {
    ...{ title, zoom },
    picture: (onSteps) => drawn(pictureOf(drawing), [described(title, shown), missing], onSteps),
    undrawn: missing,
    table: (label) => lineTable(label, figure, shown, look.axis, isOneRun),
  };
}

export const pictureOf = (drawing: Drawing): Picture => ({
  ...drawing,
  series: (theme) => seriesOf(drawing, theme),
  legend: (theme) => [
    ...drawing.lines.flatMap(({ points, label, smoothing, color, dashes }) =>
      points.length === 0 ? [] : [{ label: smoothedWords(label, smoothing), color: color(theme), dashes }],
    ),
    ...(drawing.untrained === undefined
      ? []
      : [
          {
            label: t('untrained baseline on the same pairs: {0}', drawing.figure.format(drawing.untrained)),
            color: theme.quiet,
            dashes: [2, 3],
          },
        ]),
  ],
});

/** More circles would fill the gaps of a dashed line. */
const MAX_CIRCLES = 60;

function seriesOf({ lines, untrained, isLogarithmic, zoom }: Drawing, theme: Theme): object[] {
  const seen = (line: readonly LinePoint[]): readonly LinePoint[] => lineInRange(line, zoom.shown);
  const plain = { type: 'line', symbol: 'none', silent: true };
  const series = lines.flatMap((line) => {
    const { id, points, dashes, hasRange, isMarked } = line;
    const color = line.color(theme);
    const means = {
      ...{ ...plain, id, symbolSize: 7, itemStyle: { color } },
      ...(isMarked === true && points.length <= MAX_CIRCLES && { symbol: 'circle' }),
      lineStyle: { color, width: 2, type: dashes.length === 0 ? 'solid' : [...dashes] },
      data: openedWithDots(seen(meansOf(line)), isLogarithmic),
    };
    if (hasRange !== true) return [means];
    const lineStyle = { color, width: 1, opacity: 0.3 };
    return [
      { ...plain, id: `${id}-range`, lineStyle, data: opened(seen(outline(points)), isLogarithmic) },
      means,
    ];
  });
  return untrained === undefined ? series : [...series, level(untrained, theme)];
}

function meansOf({ points, smoothing }: Line): LinePoint[] {
  const means = smoothed(
    points.map(({ mean }) => mean),
    smoothing,
  );
  return points.map(({ x }, index) => [x, means[index]!]);
}

/** It exists before the first step, so it crosses the whole picture. */
const level = (at: number, theme: Theme): object => ({
  ...{ type: 'line', id: 'untrained', silent: true, data: [] },
  markLine: {
    ...{ silent: true, symbol: 'none', label: { show: false }, data: [{ yAxis: at }] },
    lineStyle: { color: theme.quiet, width: 1.5, type: 'dotted' },
  },
});

/** Empty when the picture has all points. */
export function undrawn({ lines, isLogarithmic, zoom }: Drawing): string {
  const values = lines.flatMap((line) =>
    meansOf(line).flatMap(([x, mean], index) => {
      const low = line.hasRange === true ? line.points[index]!.low : mean;
      return isIn(x, zoom.shown) ? [Math.min(low, mean)] : [];
    }),
  );
  return undrawnWords(values, isLogarithmic);
}

const MAX_ROWS = 40;

/** For people who cannot see the picture. */
function lineTable(
  label: string,
  figure: FigureStyle,
  lines: readonly Line[],
  axis: Axis,
  isOneRun: boolean,
): TemplateResult {
  const places = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const columns = lines.flatMap(({ name, points, hasRange }) => {
    if (points.length === 0) return [];
    const isRange = hasRange === true && points.some(({ low, high }) => low !== high);
    return [
      { name, points, of: 'mean' as const },
      ...(isRange ? [{ name: t('Lowest'), points, of: 'low' as const }] : []),
      ...(isRange ? [{ name: t('Highest'), points, of: 'high' as const }] : []),
    ];
  });
  const hasSteps = axis === 'time' && isOneRun;
  return table(
    label,
    [
      axis === 'step' ? t('Step') : t('Training time'),
      ...(hasSteps ? [t('Step')] : []),
      ...columns.map(({ name }) => name),
    ].map(numberColumn),
    some(places, MAX_ROWS).map((x, index, rows) => {
      const cells = columns.map(({ points, of }) => ({
        of,
        point: latestWithin(points, rows[index - 1] ?? -1, x),
      }));
      const step = cells.find(({ point }) => point !== undefined)?.point?.step;
      return html`<th scope="row" class="number">${axis === 'step' ? grouped(x) : durationWords(x)}</th>
        ${hasSteps ? html`<td class="number">${step === undefined ? '' : grouped(step)}</td>` : ''}
        ${cells.map(
          ({ of, point }) =>
            html`<td class="number">${point === undefined ? '' : figure.format(point[of])}</td>`,
        )}`;
    }),
  );
}
