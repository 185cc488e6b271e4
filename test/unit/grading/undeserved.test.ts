import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Grader } from '../../../src/core/grading/grader';
import { hostileAnswers, hostileClasses } from '../../bench/hostile/hostile';
import { buildSandbox, type Sandbox } from './sandbox';

/** One draw of each class; `node test/bench/run.mjs hostile` draws others. */
const seed = 1;

let sandbox: Sandbox;
let grader: Grader;
beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open();
});
afterAll(() => sandbox.close());

it('the classes of hostile answers are many, and each has a name of its own', () => {
  expect(new Set(hostileClasses.map(({ name }) => name)).size).toBe(hostileClasses.length);
  expect(hostileClasses.length).toBeGreaterThanOrEqual(60);
});

const answers = Map.groupBy(hostileAnswers(seed), ({ kind }) => kind);

it.each([...answers.keys()])('gives no point for %s, and does not leave it out', async (kind) => {
  const grades = await Promise.all(
    answers.get(kind)!.map(async ({ task, answer }) => {
      const { reward, notGradable } = await grader.grade(task, answer, { mode: 'fixed' });
      return { task: task.id, answer, reward, notGradable };
    }),
  );
  expect(grades.filter(({ reward }) => reward !== 0)).toEqual([]);
});

it('the tasks of hostile answers can be solved', async () => {
  const tasks = new Map(hostileAnswers(seed).map(({ task }) => [task.id, task]));
  for (const task of tasks.values()) {
    expect(await grader.grade(task, task.reference, { mode: 'fixed' })).toMatchObject({ success: true });
  }
});
