import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grader } from '../../src/core/grading/grader';
import { hostileAnswers, quickClasses } from '../bench/hostile/hostile';
import { openRunner } from './native-runner';
import { buildSandbox, type Sandbox } from '../fixtures/sandbox';

/** Seed for one draw of each quick class; `node test/bench/run.mjs hostile` makes other draws of all classes. */
const seed = 1;

describe.each(['wasm', 'native'] as const)('hostile answers, %s', (runner) => {
  const classes = quickClasses(runner);
  let sandbox: Sandbox;
  let grader: Grader;
  let missing: string | undefined;
  beforeAll(async () => {
    sandbox = await buildSandbox();
    if (runner === 'wasm') {
      grader = await sandbox.open();
      return;
    }
    const opened = await openRunner(['numpy']);
    if ('missing' in opened) missing = opened.missing;
    else grader = await sandbox.open({ native: () => Promise.resolve(opened.runner) });
  });
  afterAll(() => sandbox.close());

  it('are of many classes, and each has a name of its own', () => {
    expect(new Set(classes.map(({ name }) => name)).size).toBe(classes.length);
    expect(classes.length).toBeGreaterThanOrEqual(60);
  });

  const all = hostileAnswers(seed, runner, classes);
  const answers = Map.groupBy(all, ({ kind }) => kind);

  it.for([...answers.keys()])('get no point by %s, and are not left out', async (kind, context) => {
    if (missing !== undefined) context.skip(missing);
    const grades = await Promise.all(
      answers.get(kind)!.map(async ({ task, answer }) => {
        const { reward, notGradable } = await grader.grade(task, answer, { mode: 'fixed' });
        return { task: task.id, answer, reward, notGradable };
      }),
    );
    expect(grades.filter(({ reward }) => reward !== 0)).toEqual([]);
  });

  it('are graded by tasks that can be solved', async (context) => {
    if (missing !== undefined) context.skip(missing);
    const tasks = new Map(all.map(({ task }) => [task.id, task]));
    for (const task of tasks.values()) {
      const { success, tests } = await grader.grade(task, task.reference, { mode: 'fixed' });
      expect({ task: task.id, success, tests }).toMatchObject({ success: true });
    }
  });
});
