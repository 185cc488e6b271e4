import { expect, test } from 'vitest';
import { checkPack, loadTasks } from '../../../src/core/task/pack';
import { inFolder, taskRow, written } from '../../fixtures/tasks';

const line = (changes?: Record<string, unknown>): string => JSON.stringify(taskRow(changes));

test('bad lines are reported with file, line and reason, and the good ones load', async () => {
  await inFolder(async (folder) => {
    const content = [
      `\uFEFF${line({ id: 'first' })}\r`,
      '{"problem_description": ',
      '',
      line({ test_cases: [1, 2, 3] }),
      line({ ground_truth: undefined }),
      line({ id: 'last' }),
    ].join('\n');
    const file = await written(folder, 'pack.jsonl', content);
    const { tasks, bad } = await loadTasks(file);
    expect(tasks.map(({ id }) => id)).toEqual(['first', 'last']);
    expect(bad).toEqual([
      { file, line: 2, reason: expect.stringContaining('The line is not JSON') as string },
      {
        file,
        line: 4,
        reason: 'test_cases must be an object of call strings, here an array of 3 numbers.',
      },
      { file, line: 5, reason: 'The field ground_truth is missing.' },
    ]);
  });
});

test('the second of two tasks with one id is a bad line that names the first', async () => {
  await inFolder(async (folder) => {
    const file = await written(folder, 'pack.jsonl', [line(), line({ id: 'b' }), line()].join('\n'));
    const { tasks, bad } = await loadTasks(file);
    expect(tasks).toHaveLength(2);
    const id = tasks[0]!.id;
    const reason = `The task has the id ${id} of the task in line 1; ids must differ within a pack.`;
    expect(bad).toEqual([{ file, line: 3, reason }]);
  });
});

test('a check counts what a pack holds', async () => {
  await inFolder(async (folder) => {
    const facts = [{ topic: 'limit', keywords: ['limit'], answers: ['500'] }];
    const file = await written(folder, 'pack.jsonl', [line(), line({ id: 'b', facts }), 'x'].join('\n'));
    expect(await checkPack(file)).toMatchObject({
      file,
      tasks: 2,
      tests: 4,
      withFacts: 1,
      bad: [{ line: 3 }],
    });
  });
});
