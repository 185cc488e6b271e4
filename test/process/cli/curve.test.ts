import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { savedCurves } from '../../../src/core/evaluation/savedCurves';
import { Runs } from '../../../src/core/training/runs';
import { temporaryFolder } from '../../fixtures/log';
import { realTrainer } from '../../fixtures/trainer';
import { json, tandem } from './tandem';

beforeAll(() => {
  realTrainer();
});

const curveSchema = z.object({
  rows: z.array(z.object({ share: z.number(), tasks: z.number(), dialogues: z.number() })),
  summary: z.object({
    validation: z.number(),
    moreHelps: z.string(),
    runs: z.array(z.object({ id: z.string() })),
  }),
});

const rowSchema = z.object({ task: z.object({ problem_description: z.string() }) });

it('trains on nested shares of the log, measures on other tasks, and trains nothing twice', async () => {
  const folder = await temporaryFolder();
  const [pack, data, file] = ['train.jsonl', '.tandem', 'run.json'].map((name) => path.join(folder, name));
  await tandem('world', pack!, '--tasks', '20', '--split', 'train', '--seed', '5');
  await tandem(
    ...['collect', '--tasks', pack!, '--agent', 'starter', '--simulator', 'rules', '--max-turns', '6'],
    ...['--max-tokens', '160', '--data', data!, '--jobs', '1'],
  );
  const configuration = {
    method: 'distill',
    model: { base: path.resolve('dist/starter'), training: 'full', dtype: 'float32', device: 'cpu' },
    data: { log: '.tandem' },
    distill: { learning_rate: 1e-3, batch: 4, epochs: 1, max_steps: 2, patience: 0 },
    resources: { threads: 1 },
  };
  await writeFile(file!, JSON.stringify(configuration));
  const asked = [
    ...['curve', file!, '--data', data!, '--seeds', '1', '--shares', '50,100'],
    ...['--max-turns', '6', '--max-tokens', '160', '--jobs', '1'],
  ];
  const first = await json(curveSchema, ...asked);
  expect(first.rows).toEqual([
    expect.objectContaining({ share: 0.5, tasks: 8, dialogues: 8 }),
    expect.objectContaining({ share: 1, tasks: 16, dialogues: 16 }),
  ]);
  expect(first.summary).toMatchObject({ validation: 4, moreHelps: 'too few' });
  const ids = new Set(first.summary.runs.map(({ id }) => id));
  const { curves } = await savedCurves(data!, ids);
  expect(curves).toMatchObject([
    { method: 'distill', curve: { validation: 4, runs: [{ share: 0.5 }, { share: 1 }] } },
  ]);
  const tasks = await Promise.all(first.summary.runs.map(({ id }) => tasksOf(path.join(data!, 'runs', id))));
  expect(tasks.map((of) => of.size)).toEqual([8, 16]);
  expect([...tasks[1]!]).toEqual(expect.arrayContaining([...tasks[0]!]));

  const again = await json(curveSchema, ...asked);
  expect(again).toEqual(first);
  expect(await new Runs(data!).ids()).toHaveLength(2);
});

async function tasksOf(run: string): Promise<Set<string>> {
  const rows = await readFile(path.join(run, 'data', 'trajectories.jsonl'), 'utf8');
  const lines = rows.trim().split('\n');
  return new Set(lines.map((line) => rowSchema.parse(JSON.parse(line)).task.problem_description));
}
