import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Grader } from '../../src/core/grading/grader';
import { buildSandbox, makeTask, type Sandbox } from '../fixtures/sandbox';

const task = makeTask('def f(x): return x', ['f(1)']);
const limit = 1000;

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open();
});
afterAll(() => sandbox.close());

function counting(steps: number): string {
  return `def f(x):\n    total = 0\n    for i in range(${Math.round(steps)}): total += i\n    return x`;
}

async function rewards(shares: readonly number[], stepsPerMillisecond: number): Promise<(number | null)[]> {
  const grades = await Promise.all(
    shares.map((share) =>
      grader.grade(task, counting(share * limit * stepsPerMillisecond), { mode: 'fixed' }),
    ),
  );
  return grades.map(({ reward }) => reward);
}

it('scores answers near their limit alike on a quiet and on a busy machine', async () => {
  const steps = 200_000;
  const times: number[] = [];
  for (let round = 0; round < 6; round++) {
    const { tests } = await grader.grade(task, `${counting(steps)} # ${round}`, { mode: 'fixed' });
    for (const test of tests) if (test.status === 'passed') times.push(test.milliseconds);
  }
  const stepsPerMillisecond = steps / Math.max(...times);
  const shares = [0.3, 0.5, 3];
  const expected = [1, 1, 0];
  expect(await rewards(shares, stepsPerMillisecond)).toEqual(expected);
  const busy = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  try {
    expect(await rewards(shares, stepsPerMillisecond)).toEqual(expected);
  } finally {
    for (const one of busy) one.kill('SIGKILL');
  }
});
