import type { CurvePart } from './protocol';

/** A step, or the mean of neighbouring ones with the lowest and the highest of them. */
export interface Point {
  readonly step: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const NUMBERS = 4;

/** A curve with its new end. */
export function joined(before: readonly Point[], { from, points }: CurvePart): Point[] {
  const added: Point[] = [];
  for (let index = 0; index + NUMBERS <= points.length; index += NUMBERS) {
    const [step, mean, low, high] = points.slice(index, index + NUMBERS) as [number, number, number, number];
    added.push({ step, mean, low, high });
  }
  return [...before.slice(0, from), ...added];
}

/**
 * Means with weights that fade into the past, corrected for the beginning, where there is no past yet.
 * @param amount 0: as they are; towards 1: ever smoother
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
 * The line through the lowest and highest values, for a curve that is drawn behind its means: of every two points the
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

/** At most so many of them, evenly, always with the last one. */
export function some<Value>(values: readonly Value[], most: number): Value[] {
  const each = Math.max(1, Math.ceil(values.length / most));
  return values.filter((_, index) => (values.length - 1 - index) % each === 0);
}

/** What a line of a table says: the latest point of another curve since the line before. */
export function latestWithin(points: readonly Point[], after: number, upTo: number): Point | undefined {
  return points.findLast(({ step }) => step > after && step <= upTo);
}

/** The point whose step is nearest to one that somebody points at. */
export function nearest(points: readonly Point[], step: number): Point | undefined {
  return points.reduce<Point | undefined>(
    (best, point) =>
      best === undefined || Math.abs(point.step - step) < Math.abs(best.step - step) ? point : best,
    undefined,
  );
}

/** The same where the curve has come to that step, and has not ended before it. */
export function nearestWithin(points: readonly Point[], step: number): Point | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || step < first.step || step > last.step) return undefined;
  return nearest(points, step);
}
