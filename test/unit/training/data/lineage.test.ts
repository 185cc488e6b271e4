import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parseConfiguration } from '../../../../src/core/training/configuration';
import { fillRun } from '../../../../src/core/training/data/fillRun';
import { keptLocalOf, ORIGIN, rowsLearnedBy } from '../../../../src/core/training/data/lineage';
import { runsFolderOf } from '../../../../src/core/training/runFolder';
import { temporaryFolder } from '../../../fixtures/log';

const prompts = path.resolve('trainer/tandem_trainer/data/prompts');

/** Writes a run that took dialogues from a log, and returns its folder. */
async function taken(data: string, id: string, keptLocal: number): Promise<string> {
  const run = path.join(runsFolderOf(data), id);
  await mkdir(path.join(run, 'data'), { recursive: true });
  await mkdir(path.join(run, 'model'));
  const counts = { trajectories: 9, tasks: 3, successes: 2, other_prompts: 0, with_token_ids: 9 };
  const report = { log: data, at: '2026-01-01T00:00:00Z', ...counts, left_out: {}, kept_local: keptLocal };
  await writeFile(path.join(run, 'data', 'selection.json'), JSON.stringify(report));
  await writeFile(path.join(run, 'data', 'trajectories.jsonl'), '{}\n');
  await writeFile(path.join(run, 'run.json'), JSON.stringify({ model: { base: 'owner/model' } }));
  return run;
}

/** Makes a run without a log as Tandem does. */
async function made(data: string, id: string, fields: object): Promise<string> {
  const run = path.join(runsFolderOf(data), id);
  await mkdir(path.join(run, 'model'), { recursive: true });
  const value = { method: 'rft', data: {}, ...fields };
  const configuration = await parseConfiguration(value, { from: 'a test', folder: data });
  await fillRun(run, { configuration, prompts });
  return run;
}

const modelOf = (run: string): string => path.join(run, 'model');

it('counts what people keep here through every run below, each once, also when these are gone', async () => {
  const data = await temporaryFolder();
  const first = await taken(data, 'first', 7);
  const other = await taken(data, 'other', 2);
  const second = await made(data, 'second', { model: { base: modelOf(first) } });
  expect(await keptLocalOf(modelOf(second))).toBe(7);
  const third = await made(data, 'third', {
    model: { base: modelOf(second) },
    data: { trajectories: [first, other].map((run) => path.join(run, 'data', 'trajectories.jsonl')) },
  });
  for (const run of [first, other, second]) await rm(run, { recursive: true });
  expect(await keptLocalOf(modelOf(third))).toBe(9);
});

it('asks the runs that a run of an older Tandem names, and those that name each other only once', async () => {
  const data = await temporaryFolder();
  const [one, two] = [await taken(data, 'one', 3), await taken(data, 'two', 4)];
  for (const [run, base] of [
    [one, two],
    [two, one],
  ] as const)
    await writeFile(path.join(run, 'run.json'), JSON.stringify({ model: { base: modelOf(base) } }));
  expect(await keptLocalOf(modelOf(two))).toBe(7);
});

it('knows the run of a model that a loop has copied', async () => {
  const data = await temporaryFolder();
  await taken(data, 'one', 3);
  await mkdir(modelOf(data));
  await writeFile(path.join(modelOf(data), ORIGIN), '{"run":"one"}\n');
  expect(await keptLocalOf(modelOf(data))).toBe(3);
});

it('finds the dialogues that a model learned from, those of the rounds before it, too', async () => {
  const data = await temporaryFolder();
  const first = await taken(data, 'first', 7);
  const rows = path.join(first, 'data', 'trajectories.jsonl');
  const configuration = {
    model: { base: 'owner/model' },
    data: { trajectories: ['data/trajectories.jsonl'] },
  };
  await writeFile(path.join(first, 'run.json'), JSON.stringify(configuration));
  expect(await rowsLearnedBy(modelOf(first))).toEqual([rows]);
  const fresh = path.join(data, 'fresh.jsonl');
  await writeFile(fresh, '{}\n');
  const second = await made(data, 'second', {
    model: { base: modelOf(first) },
    data: { trajectories: [fresh], earlier: [rows] },
  });
  await rm(first, { recursive: true });
  expect(await rowsLearnedBy(modelOf(second))).toEqual([fresh, path.join(second, 'data/earlier-1.jsonl')]);
  expect(await keptLocalOf(modelOf(second))).toBe(7);
  expect(await rowsLearnedBy('owner/model')).toEqual([]);
});
