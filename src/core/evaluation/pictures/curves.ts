import { axisLine, axisText, COLOURS, gridLine, INK, svgOf, titled, WIDTH } from './chart';

export type Point = readonly [step: number, value: number];

export interface DrawnCurve {
  readonly name: string;
  readonly points: readonly Point[];
  /** Values of every step are noisy: they are drawn faintly, with a running mean over them. */
  readonly isNoisy?: boolean;
}

export interface ChartPanel {
  readonly title: string;
  readonly curves: readonly DrawnCurve[];
  readonly format: (value: number) => string;
  /** End of the axis, where the values have a maximum. */
  readonly most?: number;
  /** For comparison, e.g. the level of chance. */
  readonly line?: { readonly at: number; readonly name: string };
}

const HEIGHT = 300;
const TOP = 96;
const MARGIN = 24;

/** One panel beside the other over the same steps. */
export function curvePicture({
  title,
  subtitle,
  panels,
}: {
  readonly title: string;
  readonly subtitle?: string;
  readonly panels: readonly ChartPanel[];
}): string {
  const width = (WIDTH - MARGIN) / panels.length;
  const left = (index: number): number => MARGIN + index * width;
  const names = [...new Set(panels.flatMap(({ curves }) => curves.map(({ name }) => name)))];
  const colour = (name: string): string => COLOURS[names.indexOf(name) % COLOURS.length]!;
  return svgOf(
    {
      title: [titled(title, subtitle), ...panels.map((panel, index) => panelTitle(panel.title, left(index)))],
      legend: {
        data: names.map((name) => ({ name, itemStyle: { color: colour(name) } })),
        right: 16,
        top: 12,
        icon: 'roundRect',
        itemWidth: 14,
        itemHeight: 4,
        // Without a screen the library underestimates the width of names; they continue in a second line.
        itemGap: 30,
        width: WIDTH - 200,
        textStyle: axisText,
      },
      grid: panels.map((_, index) => ({
        left: left(index) + 40,
        width: width - 40 - MARGIN,
        top: TOP,
        bottom: 40,
      })),
      xAxis: panels.map((_, gridIndex) => ({
        gridIndex,
        type: 'value',
        name: 'step',
        nameLocation: 'middle',
        nameGap: 24,
        nameTextStyle: axisText,
        min: 0,
        max: 'dataMax',
        minInterval: 1,
        axisLabel: { ...axisText, hideOverlap: true },
        axisLine: { ...axisLine, onZero: false },
        splitLine: { show: false },
      })),
      yAxis: panels.map(({ format, most }, gridIndex) => ({
        gridIndex,
        type: 'value',
        scale: true,
        ...(most !== undefined && { max: most }),
        axisLabel: { ...axisText, formatter: format },
        splitLine: gridLine,
      })),
      series: panels.flatMap((panel, index) => linesOf(panel, index, colour)),
    },
    HEIGHT,
  );
}

const panelTitle = (text: string, left: number): object => ({
  text,
  left: left + 4,
  top: TOP - 34,
  textStyle: { ...axisText, fontWeight: 600 },
});

function linesOf(panel: ChartPanel, index: number, colour: (name: string) => string): object[] {
  const where = { type: 'line', xAxisIndex: index, yAxisIndex: index, silent: true };
  const lines = panel.curves.flatMap(({ name, points, isNoisy = false }): object[] => {
    const ink = { itemStyle: { color: colour(name) }, lineStyle: { color: colour(name), width: 2 } };
    if (!isNoisy) return [{ ...where, ...ink, name, data: points, symbol: 'circle', symbolSize: 5 }];
    const faint = { color: colour(name), width: 1, opacity: 0.3 };
    return [
      { ...where, data: points, showSymbol: false, lineStyle: faint },
      { ...where, ...ink, name, data: runningMean(points), showSymbol: false },
    ];
  });
  return panel.line === undefined ? lines : [{ ...lines[0], markLine: level(panel.line) }, ...lines.slice(1)];
}

const level = ({ at, name }: { readonly at: number; readonly name: string }): object => ({
  silent: true,
  symbol: 'none',
  data: [{ yAxis: at }],
  lineStyle: { color: INK, width: 1, type: 'dashed' },
  label: { ...axisText, formatter: name, position: 'insideEndTop' },
});

/** Averages a tenth of the points around each, before and after alike. */
function runningMean(points: readonly Point[]): Point[] {
  const reach = Math.max(1, Math.round(points.length / 20));
  return points.map(([step], i) => {
    const around = points.slice(Math.max(0, i - reach), i + reach + 1);
    return [step, around.reduce((sum, [, value]) => sum + value, 0) / around.length];
  });
}
