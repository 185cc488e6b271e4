import type { PairedDifference, TaskFigures } from './figureSchemas';
import type { Interval } from './interval';
import { mulberry32 } from '../random';

const RESAMPLES = 10_000;
export const MIN_TASKS = 6;
/** Number of differing tasks up to which all signs are enumerated: 8,192 ways. */
const MAX_EXACT_DIFFERENCES = 13;

/**
 * Percentile bootstrap interval over tasks with 10,000 resamples (Efron and Tibshirani 1993, chapter 13) and the
 * p-value of a sign-flip permutation test, exact for up to 13 tasks (ibid., chapter 15).
 * @param first value per task, e.g. success averaged over rollouts
 * @param second the same tasks in the same order
 * @param seed seed of the resampling; equal seeds give equal results
 */
export function pairedDifference(
  first: readonly number[],
  second: readonly number[],
  seed = 0,
): PairedDifference {
  const differences = Float64Array.from(second, (value, i) => value - first[i]!);
  const tasks = differences.length;
  if (tasks === 0) return { difference: null, interval: null, p: null, tasks };
  const random = mulberry32(seed);
  return {
    difference: sum(differences) / tasks,
    interval: tasks < MIN_TASKS ? null : bootstrap(differences, ones(tasks), random),
    p: signFlip(differences, random),
    tasks,
  };
}

/**
 * Percentile bootstrap interval over tasks of Σ parts ÷ Σ wholes, as above; undefined below six tasks.
 * @param wholes of the same tasks in the same order, each above 0
 */
export const ratioInterval = (parts: readonly number[], wholes: readonly number[]): Interval | undefined =>
  parts.length < MIN_TASKS
    ? undefined
    : bootstrap(Float64Array.from(parts), Float64Array.from(wholes), mulberry32(0));

const ones = (count: number): Float64Array => new Float64Array(count).fill(1);

function bootstrap(parts: Float64Array, wholes: Float64Array, random: () => number): Interval {
  const n = parts.length;
  const ratios = new Float64Array(RESAMPLES);
  for (let r = 0; r < RESAMPLES; r++) {
    let [part, whole] = [0, 0];
    for (let i = 0; i < n; i++) {
      const drawn = Math.floor(random() * n);
      part += parts[drawn]!;
      whole += wholes[drawn]!;
    }
    ratios[r] = part / whole;
  }
  ratios.sort();
  return { low: ratios[Math.floor(0.025 * RESAMPLES)]!, high: ratios[Math.floor(0.975 * RESAMPLES)]! };
}

/** The p-value: how often random signs give a sum at least as far from zero as the observed one. */
function signFlip(differences: Float64Array, random: () => number): number {
  const moved = differences.filter((difference) => difference !== 0);
  const observed = Math.abs(sum(moved)) - 1e-12;
  const all = 2 ** moved.length;
  if (moved.length <= MAX_EXACT_DIFFERENCES) {
    let extreme = 0;
    for (let signs = 0; signs < all; signs++) {
      extreme += Number(Math.abs(flipped(moved, (i) => (signs >> i) & 1)) >= observed);
    }
    return extreme / all;
  }
  let extreme = 0;
  for (let r = 0; r < RESAMPLES; r++) {
    extreme += Number(Math.abs(flipped(moved, () => Number(random() < 0.5))) >= observed);
  }
  return (extreme + 1) / (RESAMPLES + 1);
}

function flipped(values: Float64Array, negative: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += negative(i) === 1 ? -values[i]! : values[i]!;
  return total;
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

export interface PairedFigures {
  readonly success: PairedDifference;
  readonly testsPassed: PairedDifference;
}

/** Second − first, over the tasks that both were graded on. */
export const pairedTasks = (
  before: readonly TaskFigures[],
  after: readonly TaskFigures[],
  seed: number,
): PairedFigures => ({
  success: pairedFigure(before, after, ({ success }) => success, seed),
  testsPassed: pairedFigure(before, after, ({ testsPassed }) => testsPassed, seed),
});

type FigureOf = (task: TaskFigures) => number | null | undefined;

/** Over the tasks that both have the figure of. */
export const pairedFigure = (
  before: readonly TaskFigures[],
  after: readonly TaskFigures[],
  figure: FigureOf,
  seed: number,
): PairedDifference => pairedDifference(...pairsOf(before, after, figure), seed);

/** Values of both in the same order of tasks. */
export function pairsOf(
  before: readonly TaskFigures[],
  after: readonly TaskFigures[],
  figure: FigureOf,
): [first: number[], second: number[]] {
  const known = new Map(before.map((figures) => [figures.task, figure(figures)]));
  const pairs = after.flatMap((figures) => {
    const [first, second] = [known.get(figures.task), figure(figures)];
    return first == null || second == null ? [] : [[first, second] as const];
  });
  return [pairs.map(([first]) => first), pairs.map(([, second]) => second)];
}
