import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readTasks } from '../../src/core/task/pack';
import { programOf, type ProgramTask } from '../../src/core/task/task';
import { buildSandbox, type Sandbox } from '../fixtures/sandbox';

const file = resolve(import.meta.dirname, '../../../shared/colbench/backend_sample.jsonl');

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await buildSandbox();
});
afterAll(() => sandbox.close());

it('every published reference passes its own tests in fixed mode, or is reported', async (context) => {
  if (!existsSync(file))
    context.skip('The published sample is not beside the repository; nothing was graded.');
  const grader = await sandbox.open();
  const tasks: ProgramTask[] = [];
  for await (const read of readTasks(file)) if ('task' in read) tasks.push(programOf(read.task));
  expect(tasks).toHaveLength(300);
  const grades = await Promise.all(
    tasks.map((task) => grader.grade(task, task.reference, { mode: 'fixed' })),
  );
  const ungradable = grades.filter(({ success }) => success === null);
  const failed = grades.filter(({ success }) => success === false);
  expect(failed).toEqual([]);
  // Some references need packages such as numpy or bs4.
  expect(ungradable.length).toBeLessThan(6);
  expect(ungradable.every(({ notGradable }) => (notGradable ?? '') !== '')).toBe(true);
  console.info(`${grades.length - ungradable.length} of ${grades.length} references pass all their tests;`);
  for (const { notGradable } of ungradable) console.info(`  left out: ${notGradable}`);
});
