import { t, grouped } from '../language';
import { chartKey, type Axis, type CurvePart, type CurvesView, type FigureName } from './protocol';
import { csv } from '../ui/csv';
import { figures } from './figures';

/** A step, or the mean of neighbouring steps with the lowest and the highest of their values. */
export interface Point {
  readonly step: number;
  /** Training time at the step, in seconds. */
  readonly seconds: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface PlacedPoint extends Point {
  readonly x: number;
}

export const placed = (points: readonly Point[], axis: Axis): readonly PlacedPoint[] =>
  points.map((point) => ({ ...point, x: axis === 'step' ? point.step : point.seconds }));

export interface RunCurves {
  readonly training: Curve;
  readonly heldOut: Curve;
}

interface Curve {
  readonly points: readonly Point[];
  /** Number of values that a point averages; the last point may hold fewer. */
  readonly valuesPerPoint: number;
}

const nothing: Curve = { points: [], valuesPerPoint: 1 };
export const noCurves: RunCurves = { training: nothing, heldOut: nothing };

/** By chart key; one entry for each run. */
export type ChartedCurves = ReadonlyMap<string, readonly RunCurves[]>;

export const grown = (before: ChartedCurves, { charts }: CurvesView): ChartedCurves =>
  new Map([
    ...before,
    ...charts.map((chart) => {
      const key = chartKey(chart);
      const known = before.get(key) ?? [];
      const runs = chart.curves.map(({ training, heldOut }, run) => ({
        training: extended((known[run] ?? noCurves).training, training),
        heldOut: extended((known[run] ?? noCurves).heldOut, heldOut),
      }));
      return [key, runs] as const;
    }),
  ]);

const extended = ({ points }: Curve, part: CurvePart): Curve => ({
  points: joined(points, part),
  valuesPerPoint: part.valuesPerPoint,
});

const NUMBERS = 5;

export function joined(
  before: readonly Point[],
  { from, points }: Pick<CurvePart, 'from' | 'points'>,
): Point[] {
  const added: Point[] = [];
  for (let index = 0; index + NUMBERS <= points.length; index += NUMBERS) {
    const [step, seconds, mean, low, high] = points.slice(index, index + NUMBERS) as [
      ...[step: number, seconds: number, mean: number, low: number, high: number],
    ];
    added.push({ step, seconds, mean, low, high });
  }
  return [...before.slice(0, from), ...added];
}

/** Exponential moving averages with bias correction. @param amount weight of the past, 0 (none) to below 1 */
export function smoothed(values: readonly number[], amount: number): number[] {
  if (amount === 0) return [...values];
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    sum = amount * sum + (1 - amount) * value;
    weight = amount * weight + (1 - amount);
    return sum / weight;
  });
}

/** In a saved picture, no list says how much a line is smoothed. */
export const smoothedWords = (name: string, amount: number): string =>
  amount === 0 ? name : t('{0}, smoothed', name);

/**
 * Returns the line through the lowest and highest values, to be drawn behind the means. Every two points become the
 * lowest of both and then the highest, so that no peak is lost and there are no more points than before.
 */
export function outline(points: readonly PlacedPoint[]): [number, number][] {
  if (points.every(({ low, high }) => low === high)) return points.map(({ x, mean }) => [x, mean]);
  const line: [number, number][] = [];
  for (let index = 0; index < points.length; index += 2) {
    const [first, second = points[index]!] = [points[index]!, points[index + 1]];
    line.push([first.x, Math.min(first.low, second.low)], [second.x, Math.max(first.high, second.high)]);
  }
  return line;
}

/** At most `most` values at even intervals; always with the last one. */
export function some<Value>(values: readonly Value[], most: number): Value[] {
  const each = Math.max(1, Math.ceil(values.length / most));
  return values.filter((_, index) => (values.length - 1 - index) % each === 0);
}

/** The latest point after the previous table row, up to this row. */
export function latestWithin(
  points: readonly PlacedPoint[],
  after: number,
  upTo: number,
): PlacedPoint | undefined {
  return points.findLast(({ x }) => x > after && x <= upTo);
}

export function nearest(points: readonly PlacedPoint[], x: number): PlacedPoint | undefined {
  return points.reduce<PlacedPoint | undefined>(
    (best, point) => (best === undefined || Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best),
    undefined,
  );
}

/** Undefined before the first and after the last point of the curve. */
export function nearestWithin(points: readonly PlacedPoint[], x: number): PlacedPoint | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || x < first.x || x > last.x) return undefined;
  return nearest(points, x);
}

export type LinePoint = readonly [x: number, value: number];
type Drawn = readonly [x: number, value: number | null];

const isDrawable = (value: number): boolean => value > 0;

/** On a logarithmic scale, values of zero and below become gaps. */
export const opened = (line: readonly LinePoint[], isLogarithmic: boolean): readonly Drawn[] =>
  isLogarithmic ? line.map(([x, value]) => [x, isDrawable(value) ? value : null]) : line;

/** As `opened`, for a line without symbols: a point without neighbours, which no segment reaches, becomes a dot. */
export function openedWithDots(line: readonly LinePoint[], isLogarithmic: boolean): object[] {
  const drawn = opened(line, isLogarithmic);
  const isThere = (index: number): boolean => (drawn[index]?.[1] ?? null) !== null;
  return drawn.map((place, index) =>
    isThere(index) && !isThere(index - 1) && !isThere(index + 1) ? { value: place, symbol: 'circle' } : place,
  );
}

export function undrawnWords(values: readonly number[], isLogarithmic: boolean): string {
  const { length } = values.filter((value) => !isDrawable(value));
  if (!isLogarithmic || length === 0) return '';
  return length === 1
    ? t(
        '1 of {0} points is not drawn: a logarithmic scale shows only values above zero.',
        grouped(values.length),
      )
    : t(
        '{0} of {1} points are not drawn: a logarithmic scale shows only values above zero.',
        grouped(length),
        grouped(values.length),
      );
}

const NAMES = ['run', 'stage', 'metric', 'unit', 'measured_on', 'step', 'training_seconds', 'steps_averaged'];
const VALUES = ['mean', 'lowest', 'highest'];

/**
 * Writes the curves of a figure as CSV with a row for each point, which programs for data read as they are. The names
 * are those of the trainer's events, in every display language, and no value is smoothed.
 */
export function curvesCsv(
  stage: string,
  figure: FigureName,
  runs: readonly (RunCurves & { readonly run: string })[],
): string {
  const rows = runs.flatMap(({ run, training, heldOut }) =>
    [
      { of: 'training', ...training },
      { of: 'held-out', ...heldOut },
    ].flatMap(({ of, points, valuesPerPoint }) =>
      points.map(({ step, seconds, mean, low, high }) => [
        ...[run, stage, figure, figures[figure].unit, of, step, seconds, valuesPerPoint],
        ...[mean, low, high],
      ]),
    ),
  );
  return csv([...NAMES, ...VALUES], rows);
}
