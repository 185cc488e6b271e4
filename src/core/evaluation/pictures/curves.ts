import { axisLine, axisText, COLOURS, gridLine, INK, svgOf, titled, WIDTH } from './chart';
import type { FigureName } from '../../training/events';
import type { Curve, Curves, RunHistory } from '../../training/history/history';
import { percent } from '../words';

type Point = readonly [step: number, value: number];

interface DrawnCurve {
  readonly name: string;
  readonly points: readonly Point[];
  /** Values of every step are noisy: they are drawn faintly, with a running mean over them. */
  readonly isNoisy?: boolean;
}

interface ChartPanel {
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

/** More points of a curve would enlarge the file without being visible. */
const MAX_POINTS = 240;

interface NamedHistory {
  readonly name: string;
  readonly history: RunHistory;
}

/**
 * Loss, pair accuracy where there are pairs, success where it plays. One run has its training and what is held out,
 * several have a line each.
 */
export function learningPicture(stage: string, runs: readonly NamedHistory[]): string {
  const trained = runs.filter(({ history }) => history.trained.includes(stage));
  const isAlone = runs.length === 1;
  const drawn = (figure: FigureName, which: keyof Curves): DrawnCurve[] =>
    trained.flatMap(({ name, history }) => {
      const points = pointsOf(history.curves(stage, figure)?.[which]);
      if (points.length === 0) return [];
      const isNoisy = which === 'training';
      return [{ name: isAlone ? (isNoisy ? 'training' : 'held out') : name, points, isNoisy }];
    });
  const measured = drawn('accuracy', 'heldOut');
  const isMeasured = !isAlone && measured.length > 0;
  const panels: ChartPanel[] = [
    {
      title: 'loss',
      curves: [...drawn('loss', 'training'), ...(isAlone ? drawn('loss', 'heldOut') : [])],
      format: (value) => value.toFixed(2),
    },
    {
      title: isMeasured ? 'pairs in the right order, held out' : 'pairs in the right order',
      curves: isMeasured ? measured : [...drawn('accuracy', 'training'), ...measured],
      ...{ format: whole, most: 1, line: { at: 0.5, name: 'chance' } },
    },
    {
      title: 'success of the dialogues that are played',
      ...{ curves: drawn('success', 'training'), format: whole, most: 1 },
    },
  ];
  const accuracy = isAlone ? runs[0]!.history.bestLook(stage)?.accuracy : undefined;
  return curvePicture({
    title: isAlone ? `How the ${stage} learned` : stage,
    subtitle:
      accuracy == null ? '' : `held out, at its best: ${percent(accuracy)} of pairs in the right order`,
    panels: panels.filter(({ curves }) => curves.length > 0),
  });
}

const whole = (value: number): string => `${Math.round(100 * value)} %`;

function pointsOf(curve: Curve | undefined): Point[] {
  const buckets = curve?.all ?? [];
  const each = Math.max(1, Math.ceil(buckets.length / MAX_POINTS));
  const points: Point[] = [];
  for (let start = 0; start < buckets.length; start += each) {
    const some = buckets.slice(start, start + each);
    const total = (field: 'sum' | 'count'): number => some.reduce((all, bucket) => all + bucket[field], 0);
    points.push([some.at(-1)!.to, total('sum') / total('count')]);
  }
  return points;
}
