import type { Estimate, Figure, Interval } from './figureSchemas';

export type { Estimate, Figure, Interval };

/** @param values at least one */
export const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** For each task, the mean over its dialogues. */
export const taskMeans = <Of extends { readonly task: string }>(
  all: readonly Of[],
  value: (one: Of) => number,
): number[] => [...Map.groupBy(all, ({ task }) => task).values()].map((ofTask) => average(ofTask.map(value)));

/** Mean of values from 0 to 1 with Wilson's interval; null without a value. */
export function meanRate(values: readonly number[]): Estimate | null {
  if (values.length === 0) return null;
  const mean = average(values);
  return { mean, interval: wilson(mean, values.length) };
}

export const figureOf = ({ mean, interval }: Estimate): Figure => ({ value: mean, interval });

/** @param values at least one */
export function meanFigure(values: readonly number[]): Figure {
  const interval = meanInterval(values);
  return { value: average(values), ...(interval && { interval }) };
}

export const Z95 = 1.959963984540054;

/**
 * Wilson score interval of a rate (Wilson 1927), 95 %.
 * For a mean of values in [0, 1] that are not all 0 or 1 (fraction of tests passed, success averaged over rollouts) it
 * is conservative, since no such variable varies more than a Bernoulli variable of the same mean.
 * @param rate the mean, 0 to 1
 * @param n independent observations; for several rollouts of each task, the number of tasks
 */
export function wilson(rate: number, n: number): Interval {
  if (n === 0) return { low: 0, high: 1 };
  const z2 = Z95 * Z95;
  const centre = (rate + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z95 / (1 + z2 / n)) * Math.sqrt((rate * (1 - rate)) / n + z2 / (4 * n * n));
  // At the ends the exact bound is 0 or 1; rounding must not move it.
  return {
    low: rate === 0 ? 0 : Math.max(0, centre - half),
    high: rate === 1 ? 1 : Math.min(1, centre + half),
  };
}

/**
 * 95 % interval by the central limit theorem, mean ± 1.96 s/√n, in the unit of the values; undefined for fewer than
 * six values and for equal ones, which say too little about their spread.
 */
export function meanInterval(values: readonly number[]): Interval | undefined {
  const n = values.length;
  if (n < 6) return undefined;
  const mean = average(values);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  if (variance === 0) return undefined;
  const half = Z95 * Math.sqrt(variance / n);
  return { low: mean - half, high: mean + half };
}

/**
 * 95 % interval without assumptions on the distribution: order statistics with ranks n/2 ± 1.96 √n/2 (Conover,
 * Practical Nonparametric Statistics, 3.2), in the unit of the values; undefined below six values, no pair of which
 * covers 95 %.
 * @param sorted the values, ascending
 */
export function medianInterval(sorted: readonly number[]): Interval | undefined {
  const n = sorted.length;
  if (n < 6) return undefined;
  const half = (Z95 * Math.sqrt(n)) / 2;
  const low = Math.max(0, Math.floor(n / 2 - half) - 1);
  const high = Math.min(n - 1, Math.ceil(n / 2 + half));
  return { low: sorted[low]!, high: sorted[high]! };
}
