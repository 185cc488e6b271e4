import { expect, test } from 'vitest';
import { failure, sum, words } from '../../../../scripts/suites/outcome.mjs';
import { notReached, outcomeOf } from '../../../../scripts/suites/vitest.mjs';
import { outcomeOf as pytestOutcome } from '../../../../scripts/suites/pytest.mjs';

const tests = (...statuses: readonly string[]) => ({
  name: '/project/test/unit/some.test.ts',
  status: statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${index + 1}` })),
});
const report = [tests('passed', 'passed', 'passed')];

test('the last line says how many passed and failed, and skipped only when some were', () => {
  expect(words({ passed: 12, failed: 1, skipped: 0 })).toBe('12 passed, 1 failed');
  expect(words({ passed: 12, failed: 0, skipped: 2 })).toBe('12 passed, 0 failed, 2 skipped');
});

test('tests that failed are named with their file and error, for the end of a long run', () => {
  const file = tests('passed', 'failed');
  const error = {
    status: 'failed',
    fullName: 'with an error',
    failureMessages: ['Error: no\n    at x.ts:1'],
  };
  const vitest = outcomeOf([...report, { ...file, assertionResults: [...file.assertionResults, error] }], {
    status: 1,
    isFiltered: false,
  });
  expect(vitest.failures).toEqual([
    expect.stringMatching(/some\.test\.ts: test 2$/),
    expect.stringMatching(/some\.test\.ts: with an error\n {2}Error: no$/),
  ]);
  const xml = `<testsuite tests="2" failures="1" errors="0" skipped="0"><testcase classname="tests.test_a" name="one" time="1" /><testcase classname="tests.test_a" name="two[3]" time="1"><failure message="assert 1 &lt; 0&#10; +  where">no</failure></testcase></testsuite>`;
  expect(pytestOutcome(xml, 1).failures).toEqual(['tests.test_a: two[3]\n  assert 1 < 0\n  +  where']);
});

test('of an error its first lines are repeated, without colors, and the first place in a test', () => {
  const stack = ['a', 'b', 'c'].map((name) => `    at ${name} (/project/${name}.test.ts:1:2)`);
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}${'x'.repeat(400)}`);
  const said = failure('some test', ['\u001B[31mred\u001B[39m', '', ...lines, ...stack].join('\n')).split(
    '\n',
  );
  expect(said).toHaveLength(8);
  expect(said.slice(0, 2)).toEqual(['some test', '  red']);
  expect(said.at(-1)).toBe('  at a (/project/a.test.ts:1:2)');
  expect(Math.max(...said.map(({ length }) => length))).toBe(302);
});

test('suites are summed', () => {
  const suites = [
    { passed: 10, failed: 0, skipped: 1 },
    { passed: 2, failed: 1, skipped: 0 },
  ];
  expect(sum(suites)).toEqual({ passed: 12, failed: 1, skipped: 1 });
});

test("Vitest's tests are counted as it reports them", () => {
  const mixed = [...report, tests('failed', 'failed', 'skipped', 'todo')];
  expect(outcomeOf(mixed, { status: 1, isFiltered: false })).toMatchObject({
    passed: 3,
    failed: 2,
    skipped: 2,
  });
});

test('tests that were not asked for by name are not called skipped', () => {
  const chosen = [...report, tests('skipped', 'skipped')];
  expect(outcomeOf(chosen, { status: 0, isFiltered: true })).toMatchObject({
    passed: 3,
    failed: 0,
    skipped: 0,
  });
});

test('a file that breaks before its first test counts as one failed', () => {
  const broken = [...report, { ...tests(), status: 'failed', message: 'Error: no module' }];
  expect(outcomeOf(broken, { status: 1, isFiltered: false })).toMatchObject({
    passed: 3,
    failed: 1,
    skipped: 0,
    failures: [expect.stringMatching(/some\.test\.ts\n {2}Error: no module$/)],
  });
});

test('an error outside all tests counts as one failed', () => {
  expect(outcomeOf(report, { status: 1, isFiltered: false })).toMatchObject({
    passed: 3,
    failed: 1,
    skipped: 0,
  });
});

test('the steps after the one that failed are named, and those of files without a failure are not', () => {
  const files = [tests('passed', 'failed', 'skipped', 'skipped'), tests('passed', 'skipped')];
  expect(notReached(files)).toEqual([expect.stringContaining('some.test.ts'), '  test 3', '  test 4']);
});

const junit = (counts: string) =>
  `<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" ${counts} time="1.5"><testcase/></testsuite></testsuites>`;

test("pytest's tests are counted as it reports them", () => {
  const report = junit('errors="1" failures="2" skipped="3" tests="10"');
  expect(pytestOutcome(report, 1)).toMatchObject({ passed: 4, failed: 3, skipped: 3 });
});

test('an error of pytest outside all tests counts as one failed', () => {
  expect(pytestOutcome(junit('errors="0" failures="0" skipped="0" tests="2"'), 3)).toMatchObject({
    passed: 2,
    failed: 1,
    skipped: 0,
  });
});

test('a name that matches no test of pytest is no failure of that suite', () => {
  expect(pytestOutcome(junit('errors="0" failures="0" skipped="0" tests="0"'), 5)).toEqual({
    passed: 0,
    failed: 0,
    skipped: 0,
  });
});
