import type { Interval } from './interval';

/** How much better the second policy is than the first, on the same tasks. */
export interface PairedDifference {
  /** Mean of second − first. */
  readonly difference: number;
  readonly interval: Interval;
  /** Share of resamples on the other side of zero, doubled: a two-sided p-value. */
  readonly p: number;
  /** Tasks that both were graded on. */
  readonly tasks: number;
}

const RESAMPLES = 10_000;

/**
 * Paired percentile bootstrap over tasks, 95 %, 10,000 resamples (Efron and Tibshirani 1993, chapter 13).
 *
 * @param first value per task, e.g. success averaged over rollouts
 * @param second the same tasks in the same order
 * @param seed of the resampling; equal seeds give equal intervals
 */
export function pairedBootstrap(
  first: readonly number[],
  second: readonly number[],
  seed = 0,
): PairedDifference {
  const differences = Float64Array.from(second, (value, i) => value - first[i]!);
  const n = differences.length;
  if (n === 0) return { difference: 0, interval: { low: -1, high: 1 }, p: 1, tasks: 0 };
  const random = mulberry32(seed);
  const means = new Float64Array(RESAMPLES);
  for (let r = 0; r < RESAMPLES; r++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += differences[Math.floor(random() * n)]!;
    means[r] = sum / n;
  }
  means.sort();
  const below = means.filter((mean) => mean <= 0).length / RESAMPLES;
  const above = means.filter((mean) => mean >= 0).length / RESAMPLES;
  return {
    difference: differences.reduce((sum, d) => sum + d, 0) / n,
    interval: { low: quantile(means, 0.025), high: quantile(means, 0.975) },
    p: Math.min(1, 2 * Math.min(below, above)),
    tasks: n,
  };
}

function quantile(sorted: Float64Array, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

/** A small seeded generator of uniform numbers in [0, 1) (Tommy Ettinger's mulberry32). */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
