import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkPack, loadTasks, packsBeside, readTasks } from '../../../src/core/task/pack';
import { taskToRow } from '../../../src/core/task/row';
import { readJsonLines } from '../../../src/core/task/jsonl';
import { functionSignature } from '../../../src/core/task/signature';
import { bundled, inFolder, runNode, taskRow, written } from '../../fixtures/tasks';

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

test('the packs beside a pack are read by their names, without the pack itself', async () => {
  await inFolder(async (folder) => {
    const file = await written(folder, 'one.jsonl', line({ id: 'a' }));
    const two = await written(folder, 'two.jsonl', [line({ id: 'a' }), line({ id: 'b' })].join('\n'));
    await written(folder, 'three.jsonl', line({ id: 'c' }));
    const beside = await packsBeside(file, ['one.jsonl', 'two.jsonl', 'gone.jsonl', '../two.jsonl']);
    expect(beside.map((pack) => [pack.file, pack.tasks.map(({ id }) => id)])).toEqual([[two, ['a', 'b']]]);
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

test('tasks arrive one by one, and a reader may stop after the first', async () => {
  await inFolder(async (folder) => {
    const file = await written(folder, 'pack.jsonl', [line({ id: 'a' }), line({ id: 'b' })].join('\n'));
    for await (const read of readTasks(file)) {
      expect(read).toMatchObject({ task: { id: 'a' } });
      break;
    }
  });
});

test('a pack of 100,000 tasks is read in a fraction of its size', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'large.jsonl');
    const size = await writeLargePack(file, 100_000);
    const script = await bundled('tasks-count.ts', folder);
    const { code, stdout, stderr } = await runNode([
      '--max-old-space-size=64',
      '--max-semi-space-size=2',
      script,
      file,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const counted = JSON.parse(stdout) as { tasks: number; bad: number; grownBytes: number };
    expect(counted).toMatchObject({ tasks: 100_000, bad: 0 });
    expect(counted.grownBytes).toBeLessThan(size / 2);
  });
});

/** Writes a pack with about 1.5 KB per task, as in published packs. Returns its size in bytes. */
async function writeLargePack(file: string, tasks: number): Promise<number> {
  const handle = await open(file, 'w');
  const filler = 'The fee has more rules than one would think. '.repeat(26);
  let size = 0;
  let lines = '';
  for (let index = 0; index < tasks; index += 1) {
    lines += `${line({ problem_description: `Parcel fee ${index}. ${filler}` })}\n`;
    if (index % 1000 === 999 || index === tasks - 1) {
      size += (await handle.write(lines)).bytesWritten;
      lines = '';
    }
  }
  await handle.close();
  return size;
}

const published = join(import.meta.dirname, '../../../../shared/colbench');
const backend = join(published, 'backend_sample.jsonl');
const frontend = join(published, 'frontend_sample.jsonl');

describe('published rows', () => {
  test('all 300 of the backend sample load, and go back to the row they came from', async (context) => {
    context.skip(
      !existsSync(backend),
      `${backend} is absent: the published rows are not part of the repository.`,
    );
    const { tasks, bad } = await loadTasks(backend);
    expect(bad).toEqual([]);
    expect(tasks).toHaveLength(300);
    expect(tasks.every((task) => task.testCases.length === 10)).toBe(true);
    expect(tasks.filter((task) => functionSignature(task) === undefined)).toEqual([]);
    for await (const read of readJsonLines(backend)) {
      expect('value' in read && read.value).toEqual(taskToRow(tasks[read.line - 1]!));
    }
  });

  test('the frontend sample is told to be frontend tasks', async (context) => {
    context.skip(
      !existsSync(frontend),
      `${frontend} is absent: the published rows are not part of the repository.`,
    );
    const { tasks, bad } = await loadTasks(frontend);
    expect(tasks).toEqual([]);
    expect(bad).toHaveLength(100);
    expect(new Set(bad.map(({ reason }) => reason))).toEqual(
      new Set(['This is a frontend task; Tandem plays backend tasks.']),
    );
  });
});
