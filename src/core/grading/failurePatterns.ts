import type { Task } from '../task/task';
import type { Grade, TestResult } from './grade';

/** What several failed tests have in common. Each kind is an observation about their results, never a guess. */
export type FailureKind =
  | { readonly kind: 'error'; readonly type: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'none' }
  | { readonly kind: 'type'; readonly expected: PythonType; readonly got: PythonType }
  /** Different results above, or below, one expected value. */
  | { readonly kind: 'maximum' | 'minimum'; readonly value: string }
  | { readonly kind: 'sign' }
  | { readonly kind: 'factor'; readonly factor: number }
  /** The result less the expected value. */
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

interface Failed {
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

/** The most frequent ones first. A failed test counts for one pattern, and one test alone is none. */
export function failurePatterns({ testCases }: Pick<Task, 'testCases'>, { tests }: Grade): FailurePattern[] {
  const failed = tests.map((test, index) => ({ call: testCases[index]?.call ?? '', test }));
  const wrong = failed.flatMap(({ call, test }) =>
    test.status === 'wrong' ? [{ call, expected: test.expected, got: test.got }] : [],
  );
  const numbers = wrong.flatMap(({ call, expected, got }) => {
    const pair = { call, expected: numberOf(expected), got: numberOf(got) };
    return Number.isNaN(pair.expected) || Number.isNaN(pair.got) ? [] : [pair];
  });
  const patterns = [
    ...grouped(failed, stopOf),
    ...grouped(wrong, formOf),
    ...numericPatterns(numbers),
  ].filter(({ count }) => count > 1);
  return patterns.sort((one, other) => other.count - one.count);
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

function stopOf({ test }: Failed): FailureKind | undefined {
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
  const sorted = (shown: string): string => elementsOf(shown).sort().join('\n');
  return sorted(one) === sorted(other);
}

function elementsOf(shown: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 1;
  for (let at = 1; at < shown.length - 1; at += 1) {
    const sign = shown[at]!;
    if (sign === '\\') at += 1;
    else if (quote !== '') quote = sign === quote ? '' : quote;
    else if (sign === "'" || sign === '"') quote = sign;
    else if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' && depth === 0) {
      elements.push(shown.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...elements, shown.slice(start, -1).trim()].filter((element) => element !== '');
}

/** What all wrong numbers have in common, else what some have. */
function numericPatterns(numbers: readonly WrongNumber[]): FailurePattern[] {
  const [first] = numbers;
  if (first === undefined) return [];
  const all = (kind: FailureKind): FailurePattern[] => [{ ...kind, count: numbers.length, call: first.call }];
  if (numbers.length > 1) {
    const difference = commonValue(numbers.map(({ expected, got }) => got - expected));
    if (difference !== undefined) return all({ kind: 'difference', difference });
    const factor = commonValue(numbers.map(({ expected, got }) => got / expected));
    if (factor !== undefined && factor !== 0 && factor !== -1) return all({ kind: 'factor', factor });
  }
  const limits = limitsOf(numbers);
  const bounded = new Set(limits.flatMap(({ members }) => members));
  const rest = numbers.filter((pair) => !bounded.has(pair));
  return [...limits.map(({ pattern }) => pattern), ...grouped(rest, numericKindOf)];
}

function numericKindOf({ expected, got }: WrongNumber): FailureKind | undefined {
  if (expected !== 0 && got === -expected) return { kind: 'sign' };
  const distance = Math.abs(got - expected);
  if (distance < 1 && Number.isInteger(expected) && !Number.isInteger(got)) return { kind: 'fraction' };
  const below = [1e-6, 0.01, 1].find((limit) => distance < limit);
  return below === undefined ? undefined : { kind: 'near', below };
}

/** Returns the value that all are, within what floating-point arithmetic loses. */
function commonValue(values: readonly number[]): number | undefined {
  const value = Number(values[0]!.toPrecision(9));
  const isCommon = values.every((each) => Math.abs(each - value) <= 1e-8 * Math.max(1, Math.abs(value)));
  return Number.isFinite(value) && isCommon ? value : undefined;
}

/** Expected values that several different results are all above, or all below. */
function limitsOf(
  numbers: readonly WrongNumber[],
): { readonly pattern: FailurePattern; readonly members: readonly WrongNumber[] }[] {
  const byExpected = [...Map.groupBy(numbers, ({ expected }) => expected)];
  return byExpected.flatMap(([value, members]) => {
    if (new Set(members.map(({ got }) => got)).size < 2) return [];
    const isAbove = members.every(({ got }) => got > value);
    if (!isAbove && !members.every(({ got }) => got < value)) return [];
    const kind = isAbove ? ('maximum' as const) : ('minimum' as const);
    return [
      { pattern: { kind, value: String(value), count: members.length, call: members[0]!.call }, members },
    ];
  });
}
