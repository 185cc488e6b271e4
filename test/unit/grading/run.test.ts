import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AnswerRunner, Grader } from '../../../src/core/grading/grader';
import { buildSandbox, type Sandbox } from '../../fixtures/sandbox';

let sandbox: Sandbox;
let grader: Grader & AnswerRunner;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1, limits: { floorMilliseconds: 400 } });
});
afterAll(() => sandbox.close());

it('runs an answer without a task, and gives the outcome of each call', async () => {
  const answer = 'Here it is:\n```python\ndef f(x):\n    return 10 // x\n```';
  expect(await grader.run(answer, ['f(2)', 'f(0)', "f('a')"])).toMatchObject([
    { kind: 'value', none: false, display: '5' },
    { kind: 'error', type: 'ZeroDivisionError', line: 2 },
    { kind: 'error', type: 'TypeError' },
  ]);
});

it('stops an endless call, and takes the calls after the second for endless too', async () => {
  const outcomes = await grader.run('def f(x):\n    while x: pass', ['f(0)', 'f(1)', 'f(2)', 'f(3)']);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['value', 'timed-out', 'timed-out', 'timed-out']);
});
