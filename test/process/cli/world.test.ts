import { mkdtempSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadTasks } from '../../../src/core/task/pack';
import { runNode, type Ended } from '../../fixtures/tasks';

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-world-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const world = (...args: string[]): Promise<Ended> => runNode(['dist/tandem.js', 'world', ...args]);

test('tandem world writes a pack that loads, says what it wrote, and leaves nothing else behind', async () => {
  const out = path.join(folder, 'new', 'pack.jsonl');
  const { code, stdout } = await world(out, '--tasks', '30', '--split', 'test', '--seed', '5', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    summary: { file: out, tasks: 30, split: 'test', seed: 5, difficulty: 'standard' },
  });
  const { tasks, bad } = await loadTasks(out);
  expect(bad).toEqual([]);
  expect(tasks.map(({ id }) => id.split('-')[1])).toEqual(Array.from({ length: 30 }, () => 'test'));
  expect(await readdir(path.dirname(out))).toEqual(['pack.jsonl']);
});

test('it replaces a file only when told to', async () => {
  const out = path.join(folder, 'pack.jsonl');
  expect((await world(out, '--tasks', '5')).code).toBe(0);
  const written = await readFile(out, 'utf8');
  const refused = await world(out, '--tasks', '6');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('is there already; add --overwrite to replace it.');
  expect(await readFile(out, 'utf8')).toBe(written);
  const { stdout } = await world(out, '--tasks', '6', '--difficulty', 'hard', '--overwrite');
  expect(stdout).toBe(`Wrote 6 tasks (train, hard, seed 0) to ${out}.\n`);
});

test.each([
  [[], "required option '--tasks <n>'"],
  [['--tasks', '0'], '--tasks takes a whole number of at least 1, not "0"'],
  [['--tasks', '5', '--split', 'all'], 'Allowed choices are train, development, test'],
])('it says what is wrong with %j and exits with 2', async (args, sentence) => {
  const { code, stderr } = await world(path.join(folder, 'wrong.jsonl'), ...args);
  expect(stderr).toContain(sentence);
  expect(code).toBe(2);
});
