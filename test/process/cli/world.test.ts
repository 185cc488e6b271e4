import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadTasks } from '../../../src/core/task/pack';
import { commandFolder, tandem } from './tandem';

const { folder } = commandFolder();

it('tandem world writes a pack that loads, and replaces a file only when told to', async () => {
  const out = path.join(folder, 'new', 'pack.jsonl');
  const { code, stdout } = await tandem(
    'world',
    out,
    '--tasks',
    '30',
    '--split',
    'test',
    '--seed',
    '5',
    '--json',
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    summary: { file: out, tasks: 30, split: 'test', seed: 5, difficulty: 'standard', kind: 'functions' },
  });
  const { tasks, bad } = await loadTasks(out);
  expect(bad).toEqual([]);
  expect(tasks.map(({ id }) => id.split('-')[1])).toEqual(Array.from({ length: 30 }, () => 'test'));
  expect(await readdir(path.dirname(out))).toEqual(['pack.jsonl']);

  expect(await tandem('world', out, '--tasks', '6')).toMatchObject({ code: 2, stdout: '' });
  expect((await loadTasks(out)).tasks).toHaveLength(30);
  const hard = ['--tasks', '6', '--difficulty', 'hard', '--overwrite'];
  expect(await tandem('world', out, ...hard)).toMatchObject({ code: 0 });
  expect((await loadTasks(out)).tasks).toHaveLength(6);
});
