import type { TestOutcome, TestRun } from './run';

/** What an answer does to the tests of the function that it replaces. */
export interface TestComparison {
  readonly before: TestCount;
  readonly after: TestCount;
  /** Tests that passed before and fail with the answer. */
  readonly broken: readonly TestOutcome[];
  /** Every test that fails with the answer, the broken ones first. */
  readonly failing: readonly TestOutcome[];
}

export interface TestCount {
  readonly passed: number;
  /** Without those that were skipped. */
  readonly all: number;
}

export function countOf({ tests }: TestRun): TestCount {
  const run = tests.filter(({ outcome }) => outcome !== 'skipped');
  return { passed: run.filter(({ outcome }) => outcome === 'passed').length, all: run.length };
}

export function compareRuns(before: TestRun, after: TestRun): TestComparison {
  const passed = new Set(before.tests.filter(({ outcome }) => outcome === 'passed').map(({ id }) => id));
  const failed = new Set(after.tests.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id));
  // A test whose file can no longer be imported is not told of by its name.
  const isLost = after.tests.some(
    ({ outcome, id }) => outcome === 'failed' && !before.tests.some((one) => one.id === id),
  );
  const stillThere = new Set(after.tests.map(({ id }) => id));
  const broken = [
    ...after.tests.filter(({ id, outcome }) => outcome === 'failed' && passed.has(id)),
    ...(isLost ? before.tests.filter(({ id }) => passed.has(id) && !stillThere.has(id)) : []),
  ];
  const others = after.tests.filter(({ id }) => failed.has(id) && !passed.has(id));
  return { before: countOf(before), after: countOf(after), broken, failing: [...broken, ...others] };
}
