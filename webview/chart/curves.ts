import { t } from '../language';
import { grouped } from '../language/numbers';
import type { CurvePart } from './protocol';

/** A step, or the mean of neighbouring steps with the lowest and the highest of their values. */
export interface Point {
  readonly step: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const NUMBERS = 4;

/** Returns the curve with its new end in place of everything from the point `from` on. */
export function joined(before: readonly Point[], { from, points }: CurvePart): Point[] {
  const added: Point[] = [];
  for (let index = 0; index + NUMBERS <= points.length; index += NUMBERS) {
    const [step, mean, low, high] = points.slice(index, index + NUMBERS) as [number, number, number, number];
    added.push({ step, mean, low, high });
  }
  return [...before.slice(0, from), ...added];
}

/**
 * Returns exponential moving averages, with bias correction for the beginning, where there is no past yet.
 * @param amount weight of the past, 0 to below 1; 0 changes nothing
 */
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

/**
 * Returns the line through the lowest and highest values, to be drawn behind the means. Every two points become the
 * lowest of both and then the highest, so that no peak is lost and there are no more points than before.
 */
export function outline(points: readonly Point[]): [number, number][] {
  if (points.every(({ low, high }) => low === high)) return points.map(({ step, mean }) => [step, mean]);
  const line: [number, number][] = [];
  for (let index = 0; index < points.length; index += 2) {
    const [first, second = points[index]!] = [points[index]!, points[index + 1]];
    line.push(
      [first.step, Math.min(first.low, second.low)],
      [second.step, Math.max(first.high, second.high)],
    );
  }
  return line;
}

/** Returns at most `most` values at even intervals; the last one is always among them. */
export function some<Value>(values: readonly Value[], most: number): Value[] {
  const each = Math.max(1, Math.ceil(values.length / most));
  return values.filter((_, index) => (values.length - 1 - index) % each === 0);
}

/** Returns the value for a table row: the latest point after the previous row's step, up to this row's step. */
export function latestWithin(points: readonly Point[], after: number, upTo: number): Point | undefined {
  return points.findLast(({ step }) => step > after && step <= upTo);
}

/** Returns the point whose step is nearest; undefined when there are no points. */
export function nearest(points: readonly Point[], step: number): Point | undefined {
  return points.reduce<Point | undefined>(
    (best, point) =>
      best === undefined || Math.abs(point.step - step) < Math.abs(best.step - step) ? point : best,
    undefined,
  );
}

/** As `nearest`, but undefined before the first and after the last step of the curve. */
export function nearestWithin(points: readonly Point[], step: number): Point | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || step < first.step || step > last.step) return undefined;
  return nearest(points, step);
}

/** A point of a line: a step and the value there. */
export type LinePoint = readonly [step: number, value: number];
type Drawn = readonly [step: number, value: number | null];

const isDrawable = (value: number): boolean => value > 0;

/** Returns the line for ECharts; on a logarithmic scale, values of zero and below become gaps. */
export const opened = (line: readonly LinePoint[], isLogarithmic: boolean): readonly Drawn[] =>
  isLogarithmic ? line.map(([step, value]) => [step, isDrawable(value) ? value : null]) : line;

/** As `opened`, for a line without symbols: a point without neighbours, which no segment reaches, becomes a dot. */
export function openedWithDots(line: readonly LinePoint[], isLogarithmic: boolean): object[] {
  const drawn = opened(line, isLogarithmic);
  const isThere = (index: number): boolean => (drawn[index]?.[1] ?? null) !== null;
  return drawn.map((place, index) =>
    isThere(index) && !isThere(index - 1) && !isThere(index + 1) ? { value: place, symbol: 'circle' } : place,
  );
}

/** Says how many points a logarithmic scale leaves out; empty when none. @param values of all points */
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
