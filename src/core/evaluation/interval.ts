/** A 95 % confidence interval, same unit as the estimate. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const Z95 = 1.959963984540054;

/**
 * The Wilson score interval of a rate (Wilson 1927), 95 %.
 *
 * For a mean of values in [0, 1] that are not all 0 or 1 (fraction of tests passed, success averaged over rollouts)
 * it is conservative, since no such variable varies more than a Bernoulli variable of the same mean.
 *
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
