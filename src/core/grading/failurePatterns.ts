import { argumentsIn } from '../task/python/asserts';
import type { ProgramTask } from '../task/task';
import type { Grade, TestResult } from './grade';

/** What several failed tests have in common. Each kind is an observation about their results, never a guess. */
type FailureKind =
  /** The tests with an empty argument, and no others. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'error'; readonly type: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'none' }
  | { readonly kind: 'type'; readonly expected: PythonType; readonly got: PythonType }
  /** Different results beyond one expected value, the highest or lowest of all failed tests. */
  | { readonly kind: 'maximum' | 'minimum'; readonly value: number }
  | { readonly kind: 'sign' }
  /** The result is the expected value times this, or plus this. */
  | { readonly kind: 'factor'; readonly factor: number }
  | { readonly kind: 'difference'; readonly difference: number }
  | { readonly kind: 'fraction' }
  /** Numbers that differ by less than this. */
  | { readonly kind: 'near'; readonly below: number }
  | { readonly kind: 'order' | 'case' | 'spaces' };

export type FailurePattern = FailureKind & {
  readonly count: number;
  /** Of the first test that shows it. */
  readonly call: string;
};

type PythonType = 'None' | 'bool' | 'number' | 'str' | 'list' | 'tuple' | 'dict';

interface Run {
  readonly call: string;
  readonly test: TestResult;
}

interface Wrong {
  readonly call: string;
  readonly expected: string;
  readonly got: string;
}

interface WrongNumber {
  readonly call: string;
  readonly expected: number;
  readonly got: number;
}

/** The most frequent ones first. One test alone is a pattern only if it is the one with an empty argument. */
export function failurePatterns(
  { testCases }: Pick<ProgramTask, 'testCases'>,
  { tests }: Grade,
): FailurePattern[] {
  const run = tests.map((test, index) => ({ call: testCases[index]?.call ?? '', test }));
  const wrong = run.flatMap(({ call, test }) =>
    test.status === 'wrong' ? [{ call, expected: test.expected, got: test.got }] : [],
  );
  const numbers = wrong.flatMap(({ call, expected, got }) => {
    const pair = { call, expected: numberOf(expected), got: numberOf(got) };
    return Number.isNaN(pair.expected) || Number.isNaN(pair.got) ? [] : [pair];
  });
  const patterns = [...grouped(run, stopOf), ...grouped(wrong, formOf), ...numericPatterns(numbers)].filter(
    ({ count }) => count > 1,
  );
  return [...emptyPattern(run), ...patterns.sort((one, other) => other.count - one.count)];
}

const EMPTY_ARGUMENT = /[(,=]\s*(?:\[\s*\]|\{\s*\}|\(\s*\)|''|"")\s*[,)]/;

function emptyPattern(run: readonly Run[]): FailurePattern[] {
  const failed = run.filter(({ test }) => test.status !== 'passed');
  const [first] = failed;
  const areEmpty = run.every(({ call, test }) => EMPTY_ARGUMENT.test(call) === (test.status !== 'passed'));
  return first === undefined || failed.length === run.length || !areEmpty
    ? []
    : [{ kind: 'empty', count: failed.length, call: first.call }];
}

/** Returns one pattern for each kind that `kindOf` finds. */
function grouped<T extends { readonly call: string }>(
  items: readonly T[],
  kindOf: (item: T) => FailureKind | undefined,
): FailurePattern[] {
  const groups = new Map<string, FailurePattern>();
  for (const item of items) {
    const kind = kindOf(item);
    if (kind === undefined) continue;
    const key = JSON.stringify(kind);
    const { count, call } = groups.get(key) ?? { count: 0, call: item.call };
    groups.set(key, { ...kind, count: count + 1, call });
  }
  return [...groups.values()];
}

function stopOf({ test }: Run): FailureKind | undefined {
  if (test.status === 'timed-out') return { kind: 'timed-out' };
  return test.status === 'error' ? { kind: 'error', type: test.type } : undefined;
}

function formOf({ expected, got }: Wrong): FailureKind | undefined {
  const types = { expected: typeOf(expected), got: typeOf(got) };
  if (types.got === 'None' && types.expected !== 'None') return { kind: 'none' };
  if (types.expected === undefined || types.got === undefined) return undefined;
  if (types.expected !== types.got) return { kind: 'type', expected: types.expected, got: types.got };
  if (types.expected === 'str') {
    if (expected.toLowerCase() === got.toLowerCase()) return { kind: 'case' };
    if (expected.replace(/\s/g, '') === got.replace(/\s/g, '')) return { kind: 'spaces' };
  }
  const isOrdered = types.expected === 'list' || types.expected === 'tuple';
  return isOrdered && haveSameElements(expected, got) ? { kind: 'order' } : undefined;
}

function typeOf(shown: string): PythonType | undefined {
  if (shown === 'None') return 'None';
  if (shown === 'True' || shown === 'False') return 'bool';
  if (!Number.isNaN(numberOf(shown))) return 'number';
  if (/^'[^']*'$|^"[^"]*"$/.test(shown)) return 'str';
  if (/^\[.*\]$/s.test(shown)) return 'list';
  if (/^\(.*\)$/s.test(shown)) return 'tuple';
  return shown === '{}' || /^\{.*: .*\}$/s.test(shown) ? 'dict' : undefined;
}

const numberOf = (shown: string): number =>
  /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(shown) ? Number(shown) : Number.NaN;

/** Compares the elements as text; shortened values are never the same. */
function haveSameElements(one: string, other: string): boolean {
  if (one.includes('…') || other.includes('…')) return false;
  const sorted = (shown: string): string => argumentsIn(shown.slice(1, -1)).sort().join('\n');
  return sorted(one) === sorted(other);
}

/** Minimum number of tests that share a factor or a difference, where not all wrong numbers do. */
const MIN_SHARED = 3;

/** Each number counts for the first of these that it shows: a fraction, a shared difference, a shared factor, a limit, its distance. */
function numericPatterns(numbers: readonly WrongNumber[]): FailurePattern[] {
  const patterns: FailurePattern[] = [];
  let rest = numbers;
  const take = (kind: FailureKind, members: readonly WrongNumber[]): void => {
    patterns.push({ ...kind, count: members.length, call: members[0]!.call });
    rest = rest.filter((pair) => !members.includes(pair));
  };
  const fractions = rest.filter(isFraction);
  if (fractions.length > 1) take({ kind: 'fraction' }, fractions);
  const difference = shared(rest, ({ expected, got }) => got - expected);
  if (difference !== undefined)
    take({ kind: 'difference', difference: difference.value }, difference.members);
  const factor = shared(rest, ({ expected, got }) => got / expected);
  if (factor?.value === -1) take({ kind: 'sign' }, factor.members);
  else if (factor !== undefined && isPlain(factor.value))
    take({ kind: 'factor', factor: factor.value }, factor.members);
  for (const kind of ['maximum', 'minimum'] as const) {
    const limit = limitOf(kind, rest, numbers);
    if (limit !== undefined) take({ kind, value: limit[0]!.expected }, limit);
  }
  return [...patterns, ...grouped(rest, distanceOf)];
}

const isFraction = ({ expected, got }: WrongNumber): boolean =>
  Number.isInteger(expected) && !Number.isInteger(got) && Math.abs(got - expected) < 1;

/** A whole number, or one divided by it: another unit. Other factors come from prices and the like, and explain nothing. */
const isPlain = (factor: number): boolean =>
  [factor, 1 / factor].some((each) => Math.abs(each) > 1 && Math.abs(each - Math.round(each)) < 1e-6);

function distanceOf({ expected, got }: WrongNumber): FailureKind | undefined {
  const distance = Math.abs(got - expected);
  const below = [1e-6, 0.01, 1].find((limit) => distance < limit);
  return below === undefined ? undefined : { kind: 'near', below };
}

/** Different numbers of which something has the same value, within what floating-point arithmetic loses. */
function shared(
  numbers: readonly WrongNumber[],
  valueOf: (pair: WrongNumber) => number,
): { readonly value: number; readonly members: readonly WrongNumber[] } | undefined {
  const groups = [...Map.groupBy(numbers, (pair) => Number(valueOf(pair).toPrecision(9)))];
  const [value, members] = groups.sort(([, one], [, other]) => other.length - one.length)[0] ?? [
    Number.NaN,
    [],
  ];
  const isEnough = members.length >= Math.min(MIN_SHARED, numbers.length);
  const areDifferent = new Set(members.map(({ expected }) => expected)).size > 1;
  return Number.isFinite(value) && isEnough && areDifferent ? { value, members } : undefined;
}

/**
 * Numbers with one expected value, which no other expected value exceeds, and different results beyond it. Of tests that
 * pass the expected value is not known.
 */
function limitOf(
  kind: 'maximum' | 'minimum',
  numbers: readonly WrongNumber[],
  all: readonly WrongNumber[],
): readonly WrongNumber[] | undefined {
  const sign = kind === 'maximum' ? 1 : -1;
  const limit = sign * Math.max(...all.map(({ expected }) => sign * expected));
  const members = numbers.filter(({ expected, got }) => expected === limit && sign * (got - limit) > 0);
  return new Set(members.map(({ got }) => got)).size > 1 ? members : undefined;
}
