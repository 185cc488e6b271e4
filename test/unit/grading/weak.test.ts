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
    [
      'Every test expects True, so an answer that returns it for all inputs passes; add a test that expects something else.',
    ],
  ],
  [
    'a reference that only prints',
    'def f(x): print(x)',
    ['f(1)', 'f(2)'],
    ['The reference only prints, and output is not compared; let it return what it prints.'],
  ],
  [
    'tests that compare',
    'def f(x): return x',
    ['f(1) == 1', 'f(2) < 3', 'f(3)'],
    [
      '2 of 3 tests compare (test 1), and many graders see only True or False then; where the reference gives the right value, let a test be the call alone.',
    ],
  ],
  [
    'a comparison that the reference does not fulfil',
    'def f(x): return x',
    ['f(1) == 2', 'f(3)'],
    [
      '1 of 2 tests compare (test 1), and many graders see only True or False then; where the reference gives the right value, let a test be the call alone.',
      'test 1: The reference does not give 2 here, so every other value passes.',
    ],
  ],
  [
    'comparisons that all expect one value',
    'def f(x): return 5',
    ['f(1) == 5', '5 == f(2)'],
    [
      'Every test expects 5, so an answer that returns it for all inputs passes; add a test that expects something else.',
      '2 of 2 tests compare (test 1), and many graders see only True or False then; where the reference gives the right value, let a test be the call alone.',
    ],
  ],
])('says of %s what they cannot tell apart', async (_what, reference, calls, expected) => {
  expect(await grader.weakTests(makeTask(reference, calls))).toEqual(expected);
});
