import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Grader } from '../../../src/core/grading/grader';
import type { Unavailable } from '../../../src/core/grading/native/native';
import { buildSandbox, makeTask, type Sandbox } from '../../fixtures/sandbox';

const task = makeTask('def f(x): return x', ['f(1)', 'f(2)']);
const unhandled: unknown[] = [];
const note = (reason: unknown): number => unhandled.push(reason);

let sandbox: Sandbox;
let grader: Grader;

beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1, native: () => Promise.reject(new Error('no Python today')) });
  await grader.grade(task, task.reference, { mode: 'fixed' });
});
afterAll(() => sandbox.close());
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

async function abortAfter(microtasks: number, answer: string): Promise<unknown> {
  const stop = new AbortController();
  const grading = grader.grade(task, answer, { mode: 'fixed', signal: stop.signal });
  const settled = grading.then(
    (grade) => grade.reward,
    (error: unknown) => (error as Error).message,
  );
  for (let turn = 0; turn < microtasks; turn++) await Promise.resolve();
  stop.abort(new Error('enough'));
  return settled;
}

it('may be given up at any moment: every promise that fails then has a listener', async () => {
  for (let microtasks = 0; microtasks <= 20; microtasks++) {
    expect(await abortAfter(microtasks, task.reference)).toBe('enough');
  }
  await new Promise((done) => setTimeout(done, 50));
  expect(unhandled).toEqual([]);
});

it('opens native Python again when that failed, and closes nevertheless', async () => {
  let openings = 0;
  const failing = await sandbox.open({
    native: () => {
      openings++;
      return Promise.reject(new Error('no Python today'));
    },
  });
  const numpy = 'import numpy\ndef f(x): return x';
  for (let round = 0; round < 2; round++) {
    await expect(failing.grade(task, numpy, { mode: 'fixed' })).rejects.toThrow('no Python today');
  }
  expect(openings).toBe(2);
  await failing.close();
  await expect(failing.grade(task, numpy, { mode: 'fixed' })).rejects.toThrow('The grader is closed.');
});

it('does not wait for native Python when it is given up', async () => {
  const opening = Promise.withResolvers<Unavailable>();
  const waiting = await sandbox.open({ workers: 1, native: () => opening.promise });
  const stop = new AbortController();
  const grading = waiting.grade(task, 'import numpy\ndef f(x): return x', {
    mode: 'fixed',
    signal: stop.signal,
  });
  setTimeout(() => stop.abort(new Error('enough')), 1_000);
  await expect(grading).rejects.toThrow('enough');
  opening.resolve({ unavailable: 'Python came too late.' });
});
