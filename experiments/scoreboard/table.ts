import type { Board, PlayedArm } from './board';
import { comparisons, type Plan } from './plan';
import { successesOf, type Costs, type Row } from './rows';
import { differences, overSeeds, type OverSeeds } from '../../src/core/evaluation/overSeeds';

/** One arm on the test split, over its finished training seeds; figures per dialogue are means. */
export interface TableRow {
  readonly name: string;
  readonly setting: string;
  /** Seeds of the plan, and those of which all temperatures are finished. */
  readonly planned: number;
  readonly seeds: readonly number[];
  /** The temperature chosen on the development split. */
  readonly own: number;
  /** In the order of the plan's temperatures; empty until a seed is finished. */
  readonly sides: readonly Side[];
  readonly costs: RowCosts | undefined;
}

export interface Side {
  readonly temperature: number;
  readonly success: OverSeeds;
  readonly testsPassed: number;
  readonly turns: number;
  /** Null in a world in which nobody has to ask for everything. */
  readonly missed: number | null;
  /** Questions lost to the best decision tree; null but for twenty questions. */
  readonly lost: number | null;
  readonly useless: number;
  /** Fraction of dialogues that ran out of turns, and that a reply gave the reference away in. */
  readonly exhausted: number;
  readonly leaked: number;
  readonly tokens: number | null;
  readonly seconds: number | null;
}

/** Before the play, mean over seeds. */
export interface RowCosts {
  /** Collected, and played by the training. */
  readonly dialogues: number;
  /** Tokens that the agent sampled: in all these dialogues and as candidates. */
  readonly sampled: number;
  /** Tokens in the steps of the training. */
  readonly trained: number;
  readonly minutes: number;
}

/** `better` − `worse` in success on the same tasks with the same seeds, each at its own temperature. */
export interface Difference {
  readonly better: string;
  readonly worse: string;
  readonly temperatures: readonly [number, number];
  /** Training seeds that both have finished. */
  readonly seeds: readonly number[];
  readonly success: OverSeeds;
  /** Level of the interval. */
  readonly level: number;
}

/** A comparison that the plan fixed beforehand. */
export interface Target {
  readonly better: string;
  readonly worse: string;
  readonly kind: 'primary' | 'claim';
  readonly least: number;
  /** Seeds of the plan that both have. */
  readonly planned: number;
  /** Undefined until both have finished a seed. */
  readonly difference: Difference | undefined;
  /** Undefined until all planned seeds are finished. */
  readonly met: boolean | undefined;
}

export interface Table {
  readonly rows: readonly TableRow[];
  readonly targets: readonly Target[];
  /** Of `sweet-rl` and each other method, and of each method and the start. */
  readonly differences: readonly Difference[];
  readonly equal: { readonly rows: readonly TableRow[]; readonly differences: readonly Difference[] };
}

/** The method with which all others are compared; the start model is the second one. */
export const MAIN = 'sweet-rl';
const START = 'zero-shot';

/** Minimum number of training seeds for a comparison to count as met, however large the difference. */
export const MIN_SEEDS = 3;

export function tableOf({ main, equal, best }: Board, plan: Plan): Table {
  const names = main.map(({ method }) => method.name);
  const pairs = [
    ...names.filter((name) => name !== MAIN).map((worse) => [MAIN, worse] as const),
    ...names.filter((name) => name !== MAIN && name !== START).map((better) => [better, START] as const),
  ];
  const equalNames = equal.map(({ method }) => method.name).filter((name) => name !== MAIN);
  return {
    rows: main.map((arm) => rowOf(arm, plan)),
    targets: targetsOf(main, best, plan),
    differences: pairs.flatMap(([better, worse]) => differenceOf(main, better, worse, plan) ?? []),
    equal: {
      rows: equal.map((arm) => rowOf(arm, plan)),
      differences: equalNames.flatMap((worse) => differenceOf(equal, MAIN, worse, plan) ?? []),
    },
  };
}

/** Seeds of which every temperature is finished. */
const finishedSeeds = ({ seeds, rows }: PlayedArm, { temperatures }: Plan): number[] =>
  seeds.filter((seed) => rows.get(seed)!.size === temperatures.length);

function rowOf(arm: PlayedArm, plan: Plan): TableRow {
  const seeds = finishedSeeds(arm, plan);
  const at = (temperature: number): Row[] => seeds.map((seed) => arm.rows.get(seed)!.get(temperature)!);
  return {
    ...{ name: arm.method.name, setting: arm.setting.name, own: arm.temperature },
    ...{ planned: arm.seeds.length, seeds },
    sides: seeds.length === 0 ? [] : plan.temperatures.map((one) => sideOf(one, at(one), plan)),
    costs: seeds.length === 0 ? undefined : costsOf(at(plan.temperatures[0]!)),
  };
}

function sideOf(temperature: number, rows: readonly Row[], plan: Plan): Side {
  const mean = (figure: (row: Row) => number): number => meanOf(rows.map(figure));
  const meanKnown = (figure: (row: Row) => number | null): number | null => {
    const known = rows.flatMap((row) => figure(row) ?? []);
    return known.length < rows.length ? null : meanOf(known);
  };
  return {
    temperature,
    success: clipped(overSeeds(rows.map(successesOf), plan.test.seed)),
    testsPassed: mean((row) => row.testsPassed),
    turns: mean((row) => row.turns),
    missed: meanKnown((row) => row.missed),
    lost: meanKnown((row) => row.lost ?? null),
    useless: mean((row) => row.useless),
    exhausted: mean((row) => row.exhausted),
    leaked: mean((row) => row.leaked),
    tokens: meanKnown((row) => row.tokens),
    seconds: meanKnown((row) => row.seconds),
  };
}

/** @param rows of sampled play, the length of which stands for that of the dialogues that a training played */
function costsOf(rows: readonly Row[]): RowCosts {
  const mean = (figure: (costs: Costs, row: Row) => number): number =>
    meanOf(rows.map((row) => figure(row.costs, row)));
  return {
    dialogues: mean(({ collected, played }) => collected + played),
    sampled: mean(
      ({ sampled, played }, { tokens }) => sampled + (played === 0 ? 0 : played * (tokens ?? NaN)),
    ),
    trained: mean(({ trained }) => trained),
    minutes: mean(({ minutes }) => minutes),
  };
}

function differenceOf(
  arms: readonly PlayedArm[],
  better: string,
  worse: string,
  plan: Plan,
  level = 0.95,
): Difference | undefined {
  const [first, second] = [better, worse].map((name) => arms.find(({ method }) => method.name === name));
  if (first === undefined || second === undefined) return undefined;
  const others = finishedSeeds(second, plan);
  const seeds = finishedSeeds(first, plan).filter((seed) => others.includes(seed));
  if (seeds.length === 0) return undefined;
  const values = ({ rows, temperature }: PlayedArm): number[][] =>
    seeds.map((seed) => successesOf(rows.get(seed)!.get(temperature)!));
  return {
    ...{ better, worse, seeds, level },
    temperatures: [first.temperature, second.temperature],
    success: overSeeds(differences(values(second), values(first)), plan.test.seed, level),
  };
}

function targetsOf(main: readonly PlayedArm[], best: readonly string[] | undefined, plan: Plan): Target[] {
  if (!plan.decides) return [];
  const primary = (best ?? []).flatMap((better) =>
    comparisons.newAgainst.map((worse) => ({ better, worse, kind: 'primary' as const, least: 0 })),
  );
  const claims = comparisons.claims.map((claim) => ({ ...claim, kind: 'claim' as const }));
  const seedsOf = (name: string): number =>
    main.find(({ method }) => method.name === name)?.seeds.length ?? 0;
  return [...primary, ...claims].map((target) => {
    const { better, worse, kind, least } = target;
    const planned = Math.min(seedsOf(better), seedsOf(worse));
    const level = kind === 'primary' ? 1 - 0.05 / primary.length : 0.95;
    const difference = differenceOf(main, better, worse, plan, level);
    const isWhole = difference !== undefined && difference.seeds.length === planned;
    return { ...target, planned, difference, met: isWhole ? isMet(difference, least) : undefined };
  });
}

function isMet({ success: { mean, interval }, seeds }: Difference, least: number): boolean {
  return seeds.length >= MIN_SEEDS && mean >= least && (interval?.low ?? 0) > 0;
}

/** Clips the interval of a rate to 0 to 1, which the t distribution may exceed. */
function clipped({ interval, ...of }: OverSeeds): OverSeeds {
  if (interval === null) return { ...of, interval };
  return { ...of, interval: { low: Math.max(0, interval.low), high: Math.min(1, interval.high) } };
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
