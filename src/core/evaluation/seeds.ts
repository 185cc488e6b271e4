import type { Interval } from './interval';
import { mulberry32 } from '../random';

/** A mean over training seeds and tasks. */
export interface OverSeeds {
  readonly mean: number;
  /** 95 %; null with fewer tasks than resampling can say anything about. */
  readonly interval: Interval | null;
  /** Whether the interval covers other training seeds, too. Of one seed it can speak of other tasks only. */
  readonly coversSeeds: boolean;
  /** The mean over tasks of each seed, in their order. */
  readonly bySeed: readonly number[];
  readonly tasks: number;
}

const RESAMPLES = 10_000;
const FEWEST_TASKS = 6;

/**
 * The mean of a table of seeds × tasks with its percentile interval by the hierarchical bootstrap: seeds are drawn
 * with replacement, then tasks. All seeds are evaluated on the same tasks, so each resample draws its tasks once for
 * all of them (Owen 2007, "The pigeonhole bootstrap"); drawing them anew within each seed would take a task that is
 * hard for every seed for several independent ones, and the interval would be too short.
 *
 * Of S seeds, S − 1 are drawn (Rao and Wu 1988): drawing S of so few gives a variance that is too small by (S − 1)/S.
 *
 * @param values one row for each seed, one column for each task; of a difference, second − first on the same task
 * @param seed of the resampling; equal seeds give equal results
 */
export function overSeeds(values: readonly (readonly number[])[], seed = 0): OverSeeds {
  const rows = values.map((row) => Float64Array.from(row));
  const tasks = rows[0]?.length ?? 0;
  if (tasks === 0 || rows.some(({ length }) => length !== tasks)) {
    throw new RangeError('A table of seeds and tasks has at least one seed and one task, and no holes.');
  }
  const bySeed = rows.map(mean);
  return {
    mean: mean(bySeed),
    interval: tasks < FEWEST_TASKS ? null : resampled(rows, tasks, mulberry32(seed)),
    coversSeeds: rows.length > 1,
    bySeed,
    tasks,
  };
}

function resampled(rows: readonly Float64Array[], tasks: number, random: () => number): Interval {
  const drawnSeeds = Math.max(1, rows.length - 1);
  const times = new Float64Array(rows.length);
  const columns = new Float64Array(tasks);
  const means = new Float64Array(RESAMPLES);
  for (let r = 0; r < RESAMPLES; r++) {
    times.fill(0);
    for (let i = 0; i < drawnSeeds; i++) times[Math.floor(random() * rows.length)]! += 1;
    // What each task gives for the drawn seeds, then the mean over drawn tasks.
    columns.fill(0);
    for (const [s, row] of rows.entries()) {
      if (times[s]! > 0) for (let t = 0; t < tasks; t++) columns[t]! += times[s]! * row[t]!;
    }
    let total = 0;
    for (let i = 0; i < tasks; i++) total += columns[Math.floor(random() * tasks)]!;
    means[r] = total / (drawnSeeds * tasks);
  }
  means.sort();
  return { low: means[Math.floor(0.025 * RESAMPLES)]!, high: means[Math.floor(0.975 * RESAMPLES)]! };
}

/** Second − first, seed by seed and task by task. */
export function differences(
  first: readonly (readonly number[])[],
  second: readonly (readonly number[])[],
): number[][] {
  return second.map((row, s) => row.map((value, t) => value - first[s]![t]!));
}

const mean = (values: readonly number[] | Float64Array): number =>
  Float64Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
