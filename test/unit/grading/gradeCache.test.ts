import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Grader, remembering } from '../../../src/core/grading/grader';
import { buildSandbox, makeTask, type Sandbox } from '../../fixtures/sandbox';

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = remembering(await sandbox.open({ workers: 1, limits: { ceilingMilliseconds: 300, timeOuts: 1 } }));
});
afterAll(() => sandbox.close());

const task = makeTask('def f(x): return x * x', ['f(2)', 'f(3)']);
const fixed = { mode: 'fixed' } as const;

it('gives the same answer to the same task the same grade without running it again', async () => {
  const right = await grader.grade(task, 'def f(x): return x ** 2', fixed);
  const half = await grader.grade(task, 'def f(x): return x + 2', fixed);
  expect([right.reward, half.reward]).toEqual([1, 0.5]);
  expect(await grader.grade(task, 'def f(x): return x ** 2', fixed)).toBe(right);
  expect(await grader.grade(task, 'def f(x): return x + 2', fixed)).toBe(half);
});

it('runs it for another task, and in the other mode', async () => {
  const answer = 'def f(x): return x + x';
  const first = await grader.grade(task, answer, fixed);
  const other = makeTask('def f(x): return x + x', ['f(2)', 'f(3)']);
  expect([first.reward, (await grader.grade(other, answer, fixed)).reward]).toEqual([0.5, 1]);
  expect(await grader.grade(task, answer, { mode: 'paper' })).toMatchObject({ mode: 'paper' });
});

it.each([
  ['a test that timed out', 'def f(x):\n    while True: pass', 0],
  ['a module that is missing here', 'import numpy\ndef f(x): return numpy.square(x)', null],
])('runs an answer again after %s', async (_, answer, reward) => {
  const first = await grader.grade(task, answer, fixed);
  const again = await grader.grade(task, answer, fixed);
  expect([first.reward, again.reward]).toEqual([reward, reward]);
  expect(again).not.toBe(first);
});

it('hears of an abort also when it knows the grade', async () => {
  const answer = 'def f(x): return x';
  await grader.grade(task, answer, fixed);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(grader.grade(task, answer, { ...fixed, signal })).rejects.toThrow('enough');
});
