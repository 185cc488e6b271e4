import { differences, overSeeds, type OverSeeds } from './seeds';
import { isDone, type Attempt, type Done, type Played } from './attemptFile';
import { targets, type Method } from './plan';

export const SAMPLINGS = ['sampled', 'greedy'] as const;
export type Sampling = (typeof SAMPLINGS)[number];

/** One method on the test split, over its training seeds; figures per dialogue are means. */
export interface Row {
  readonly method: string;
  /** Undefined for the start model. */
  readonly setting: string | undefined;
  readonly seeds: readonly number[];
  /** Messages of failed attempts, which are left out of the figures. */
  readonly failures: readonly string[];
  /** Undefined when every attempt failed. */
  readonly sampled: Side | undefined;
  readonly greedy: Side | undefined;
  /** Mean minutes of a training; undefined for the start model. */
  readonly trainingMinutes: number | undefined;
}

export interface Side {
  readonly success: OverSeeds;
  readonly testsPassed: OverSeeds;
  readonly turns: number | null;
  readonly missed: number | null;
  readonly useless: number | null;
  /** Fraction of dialogues that ran out of turns. */
  readonly exhausted: number | null;
  readonly tokens: number | null;
  readonly seconds: number | null;
}

/** `better` − `worse` on the same tasks with the same seeds. */
export interface Difference {
  readonly better: string;
  readonly worse: string;
  readonly sampling: Sampling;
  /** Training seeds that both methods have. */
  readonly seeds: readonly number[];
  readonly success: OverSeeds;
  readonly testsPassed: OverSeeds;
}

export interface Target {
  readonly better: string;
  readonly worse: string;
  readonly least: number;
  /** The difference at temperature 1; undefined when one of the methods is not in the table. */
  readonly difference: Difference | undefined;
  /** True when the difference is at least `least` and its interval, over at least three seeds, excludes zero. */
  readonly met: boolean;
}

export interface Table {
  readonly rows: readonly Row[];
  readonly differences: readonly Difference[];
  readonly targets: readonly Target[];
}

/** The method with which all others are compared; the start model is the second one. */
export const MAIN = 'sweet-rl';
const START = 'zero-shot';

type Final = readonly { readonly method: Method; readonly attempts: readonly Attempt[] }[];

/** Minimum number of training seeds for a target to count as met, however large the difference. */
export const MIN_SEEDS = 3;

/** @param seed seed of the resampling */
export function tableOf(final: Final, seed: number): Table {
  const done = new Map(final.map(({ method, attempts }) => [method.name, attempts.filter(isDone)]));
  const names = [...done.keys()];
  const pairs = [
    ...names.filter((name) => name !== MAIN).map((worse) => ({ better: MAIN, worse })),
    ...names.filter((name) => name !== MAIN && name !== START).map((better) => ({ better, worse: START })),
  ];
  const compared = pairs.flatMap(({ better, worse }) =>
    SAMPLINGS.flatMap((sampling) => {
      const sides = [done.get(better) ?? [], done.get(worse) ?? []] as const;
      return differenceOf({ better, worse, sampling, sides, seed }) ?? [];
    }),
  );
  return {
    rows: final.map(({ method, attempts }) => rowOf(method, attempts, seed)),
    differences: compared,
    targets: targets.map((target) => met(target, compared)),
  };
}

function rowOf({ name }: Method, attempts: readonly Attempt[], seed: number): Row {
  const done = attempts.filter(isDone);
  const side = (sampling: Sampling): Side | undefined =>
    done.length === 0
      ? undefined
      : sideOf(
          done.map((one) => one[sampling]),
          seed,
        );
  const minutes = done.flatMap(({ trainingSeconds }) => trainingSeconds ?? []).map((seconds) => seconds / 60);
  return {
    method: name,
    setting: attempts[0]?.setting ?? undefined,
    seeds: done.map((one) => one.seed),
    failures: attempts.flatMap(({ message }) => message ?? []),
    sampled: side('sampled'),
    greedy: side('greedy'),
    trainingMinutes: meanOf(minutes) ?? undefined,
  };
}

function sideOf(played: readonly Played[], seed: number): Side {
  const mean = (figure: (of: Played['figures']) => number | null): number | null =>
    meanOf(played.flatMap(({ figures }) => figure(figures) ?? []));
  return {
    success: rate(
      overSeeds(
        played.map((one) => valuesOf(one, 'success')),
        seed,
      ),
    ),
    testsPassed: rate(
      overSeeds(
        played.map((one) => valuesOf(one, 'testsPassed')),
        seed,
      ),
    ),
    turns: mean(({ meanTurns }) => meanTurns),
    missed: mean(({ missedDecisions }) => missedDecisions),
    useless: mean(({ uselessQuestions }) => uselessQuestions),
    exhausted: mean(({ turnLimitRate }) => turnLimitRate),
    tokens: mean(({ meanTokens }) => meanTokens),
    seconds: mean(({ meanSeconds }) => meanSeconds),
  };
}

/** Returns the values by task, in an order that all attempts share; a finished attempt has every task. */
function valuesOf({ tasks }: Played, figure: 'success' | 'testsPassed'): number[] {
  return tasks.toSorted((a, b) => (a.task < b.task ? -1 : 1)).map((task) => task[figure]);
}

function differenceOf(of: {
  better: string;
  worse: string;
  sampling: Sampling;
  sides: readonly [readonly Done[], readonly Done[]];
  seed: number;
}): Difference | undefined {
  const { better, worse, sampling, seed } = of;
  const [first, second] = of.sides;
  const seeds = first.map((one) => one.seed).filter((one) => second.some((other) => other.seed === one));
  if (seeds.length === 0) return undefined;
  const values = (side: readonly Done[], figure: 'success' | 'testsPassed'): number[][] =>
    seeds.map((one) => valuesOf(side.find((attempt) => attempt.seed === one)![sampling], figure));
  const over = (figure: 'success' | 'testsPassed'): OverSeeds =>
    overSeeds(differences(values(second, figure), values(first, figure)), seed);
  return { better, worse, sampling, seeds, success: over('success'), testsPassed: over('testsPassed') };
}

/** Clips the interval of a rate to 0 to 1, which the t distribution may exceed. */
function rate({ interval, ...of }: OverSeeds): OverSeeds {
  if (interval === null) return { ...of, interval };
  return { ...of, interval: { low: Math.max(0, interval.low), high: Math.min(1, interval.high) } };
}

function met(target: (typeof targets)[number], compared: readonly Difference[]): Target {
  const difference = compared.find(
    ({ better, worse, sampling }) =>
      better === target.better && worse === target.worse && sampling === 'sampled',
  );
  const { mean = 0, interval, bySeed = [] } = difference?.success ?? {};
  const isEnough = bySeed.length >= MIN_SEEDS;
  return { ...target, difference, met: isEnough && mean >= target.least && (interval?.low ?? 0) > 0 };
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
