import { expect, test } from 'vitest';
import { outcomeOf } from '../../../../scripts/suites/vitest.mjs';
import { outcomeOf as pytestOutcome } from '../../../../scripts/suites/pytest.mjs';

const tests = (...statuses: readonly string[]) => ({
  name: '/project/test/unit/some.test.ts',
  status: statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${index + 1}` })),
});
const report = [tests('passed', 'passed', 'passed')];

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
