import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Grader } from '../../../src/core/grading/grader';
import { buildSandbox, makeTask, type Sandbox } from '../../fixtures/sandbox';

let sandbox: Sandbox;
let grader: Grader;
beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

it.each([
  ['tests that expect different values', 'def f(x): return x', ['f(1)', 'f(2)'], []],
  [
    'tests that all expect one value',
    'def f(x): return x > 0',
    ['f(1)', 'f(2)'],
    [/^Every test expects True/],
  ],
  ['a reference that only prints', 'def f(x): print(x)', ['f(1)', 'f(2)'], [/only prints/]],
  ['tests that compare', 'def f(x): return x', ['f(1) == 1', 'f(2) < 3', 'f(3)'], [/^2 of 3 tests compare/]],
  [
    'a comparison that the reference does not fulfil',
    'def f(x): return x',
    ['f(1) == 2', 'f(3)'],
    [/^1 of 2 tests compare/, /^test 1: The reference does not give 2/],
  ],
])('reports the weakness of %s', async (_what, reference, calls, expected) => {
  const found = await grader.weakTests(makeTask(reference, calls));
  expect(found).toEqual(expected.map((sentence) => expect.stringMatching(sentence) as string));
});
