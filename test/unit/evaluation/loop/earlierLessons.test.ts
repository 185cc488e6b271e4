import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { earlierLessons } from '../../../../src/core/evaluation/loop/earlierLessons';
import { keep } from '../../../../src/core/evaluation/loop/evaluationCache';
import type { Task } from '../../../../src/core/task/task';
import { temporaryFolder } from '../../../fixtures/log';
import { doubling } from '../../../fixtures/log-task';
import { bakeryPage } from '../../../fixtures/pageDialogue';
import { played, setting } from '../comparison/played';

const task = (name: string): Task => ({ ...doubling, id: name, description: `${name} def double(n)` });
const packOf = (...tasks: readonly (string | Task)[]) =>
  tasks.map((one) => ({ task: typeof one === 'string' ? task(one) : one }));
const nothing = { train: [], heldOut: [] };

/** Makes a run whose model was evaluated on these packs, in this order. Returns the folder of the model. */
async function runWith(
  measured: readonly { title: string; tasks: readonly (string | Task)[]; temperature?: number }[],
): Promise<string> {
  const run = path.join(await temporaryFolder(), 'runs', 'one');
  const model = path.join(run, 'model');
  await mkdir(model, { recursive: true });
  for (const [number, { title, tasks, temperature = 0 }] of measured.entries()) {
    const of = { ...setting(String(number)), key: String(number), title, temperature, seed: number };
    await keep(run, of, packOf(...tasks), { model: played('a', [1]) });
    // Kept at different milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return model;
}

it('is each pack that a model was measured on greedily, the latest first, and three at most', async () => {
  const model = await runWith([
    ...['one', 'two', 'three', 'four'].map((title) => ({ title, tasks: [title] })),
    { title: 'sampled', tasks: ['five'], temperature: 1 },
    { title: 'four again', tasks: ['four'] },
  ]);
  const lessons = await earlierLessons(model, nothing, false);
  expect(lessons.map(({ title, seed }) => [title, seed])).toEqual([
    ['four again', 5],
    ['three', 2],
    ['two', 1],
  ]);
  expect(lessons[1]!.tasks).toMatchObject([{ task: { id: 'three' } }]);
});

it('leaves out what is learned or measured now, and pages where none can be played', async () => {
  const model = await runWith([
    { title: 'pages', tasks: [bakeryPage] },
    { title: 'learned', tasks: ['a', 'b'] },
    { title: 'partly', tasks: ['b', 'c'] },
    { title: 'now', tasks: ['d'] },
  ]);
  const now = { train: packOf('a', 'b'), heldOut: packOf('d') };
  const lessons = await earlierLessons(model, now, false);
  expect(lessons).toMatchObject([{ title: 'partly', tasks: [{ task: { id: 'c' } }] }]);
  expect((await earlierLessons(model, now, true)).map(({ title }) => title)).toEqual(['partly', 'pages']);
});

it('is none for a model that no run made', async () => {
  expect(await earlierLessons(path.resolve('media/starter'), nothing, true)).toEqual([]);
  expect(await earlierLessons('HuggingFaceTB/SmolLM2-135M', nothing, true)).toEqual([]);
});
