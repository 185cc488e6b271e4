import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { loadTasks } from '../../../src/core/task/pack';
import { programOf } from '../../../src/core/task/task';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { asks, starterPack } from '../../fixtures/dialogue';
import { habitOf, playedBy, type DeveloperName } from '../../fixtures/developers';
import { agentTurn, answered, graded, kim, openLog, started, temporaryFolder } from '../../fixtures/log';
import { asksFirst, python, realTrainer } from '../../fixtures/trainer';
import { tandem } from '../cli/tandem';

const REPLY = 'I do not mind.';

/** Plays five tasks with kim, who always replies the same; of every suggestion kim edits something. */
async function collectReplies(folder: string): Promise<void> {
  const { tasks } = await loadTasks(starterPack);
  const log = await openLog(folder);
  await log.append({ event: 'consent', pseudonym: kim.name, purpose: 'a study', level: 'local' });
  for (const task of tasks.slice(1, 6)) {
    const episode = `about-${task.id}`;
    const reply: NewEvent = {
      ...{ event: 'reply', episode, turn: 1, text: REPLY, by: kim.name },
      ...{ author: 'developer-edited-suggestion', suggestion: 'No idea.', suggestedBy: 'openai:s' },
    };
    await log.recordTask(task);
    await log.appendAll([
      started(episode, { task: task.id, collaborator: kim }),
      agentTurn(episode, 1, asks('Anything else?')),
      reply,
      agentTurn(episode, 2, 'OUTPUT: I WANT TO ANSWER: def f(): pass'),
      answered(episode, 2),
      graded(episode, 1),
    ]);
  }
  await log.close();
}

/** With the head size that graphs need. */
const MODEL = 'import sys; from models import tiny_model; tiny_model(sys.argv[1], head_dim=16)';

const settings = { learning_rate: 1e-2, batch: 5, patience: 0, evaluate_every: 1000 };
const runSchema = z.object({ summary: z.object({ folder: z.string() }) });

/** Trains the collaborator on a log. @returns the folder of the run */
async function trained(folder: string, fields: object): Promise<string> {
  const file = path.join(folder, 'run.json');
  await writeFile(
    file,
    JSON.stringify({
      role: 'collaborator',
      model: { base: 'base', device: 'cpu', training: 'full' },
      data: { log: 'people', held_out: 0 },
      resources: { token_budget: 8192, checkpoint_activations: false, threads: 1 },
      ...fields,
    }),
  );
  const data = path.join(folder, 'runs');
  const { code, stdout, stderr } = await tandem('train', file, '--data', data, '--follow', '--json');
  expect(code, stdout + stderr).toBe(0);
  return runSchema.parse(JSON.parse(stdout)).summary.folder;
}

it('a model that imitates people’s replies plays the simulator, and one can learn from their edits', async () => {
  realTrainer();
  const folder = await temporaryFolder();
  await python(MODEL, path.join(folder, 'base'));
  await collectReplies(path.join(folder, 'people'));

  const edits = await trained(folder, { method: 'multiturn-dpo', policy: { ...settings, max_steps: 1 } });
  expect(await readFile(path.join(edits, 'data', 'preferences.jsonl'), 'utf8')).toContain('No idea.');

  const run = await trained(folder, {
    ...{ method: 'rft', export: { onnx: ['fp32'] } },
    policy: { ...settings, epochs: 100, max_steps: 30 },
  });
  const simulator = `local:${path.join(run, 'model')}`;
  const played = path.join(folder, 'played');
  const { code, stderr } = await tandem(
    ...['collect', '--tasks', starterPack, '--limit', '1', '--agent', asksFirst],
    ...['--simulator', simulator, '--data', played],
  );
  expect(code, stderr).toBe(0);
  const log = await TrajectoryLog.open(played);
  const [summary] = log.list({ sort: 'oldest', offset: 0, limit: 1 }).rows;
  const { turns } = (await log.trajectory(summary!.id))!;
  await log.close();
  expect(turns[0]!.reply).toMatchObject({ text: REPLY, author: 'simulator', by: simulator });
});

const gapsSchema = z.object({
  rows: z.array(z.object({ figure: z.string(), difference: z.object({ difference: z.number() }) })),
});

/** Distances of a simulator from a person in words and in answers, without their signs. */
async function distances(simulator: string, person: DeveloperName, data: string) {
  const { code, stdout, stderr } = await tandem(
    ...['simgap', '--data', data, '--simulator', simulator, '--people', person, '--json'],
  );
  expect(code, stdout + stderr).toBe(0);
  const { rows } = gapsSchema.parse(JSON.parse(stdout));
  const of = (name: string): number =>
    Math.abs(rows.find(({ figure }) => figure === name)!.difference.difference);
  return { words: of('words'), answers: of('answers') };
}

it('a simulator fitted to one of two developers is nearer to that one than the rules are', async () => {
  realTrainer();
  const folder = await temporaryFolder();
  await python(MODEL, path.join(folder, 'base'));
  const { tasks } = await loadTasks(starterPack);
  const programs = tasks.map(programOf);
  const [learned, unseen] = [programs.slice(8, 20), programs.slice(0, 8)];
  const [people, others] = ['people', 'others'].map((name) => path.join(folder, name));
  for (const [place, about] of [
    [people!, learned],
    [others!, unseen],
  ] as const) {
    const log = await openLog(place);
    for (const by of ['ada', 'ben'] as const) {
      await log.append({ event: 'consent', pseudonym: by, purpose: 'a study', level: 'local' });
      await playedBy(habitOf(by), about, { log, by });
    }
    await log.close();
  }
  const run = await trained(folder, {
    ...{ method: 'rft', export: { onnx: ['fp32'] } },
    data: { log: 'people', held_out: 0, filter: { collaborator: 'ben' } },
    policy: { ...settings, epochs: 100, max_steps: 40, minimum_reward: 0 },
  });
  const simulator = `local:${path.join(run, 'model')}`;
  const [fitted, rules] = [
    await distances(simulator, 'ben', others!),
    await distances('rules', 'ben', others!),
  ];
  expect(fitted.words).toBeLessThan(rules.words);
  expect(fitted.answers).toBeLessThan(rules.answers);
  // It is like ben, not like ada.
  expect((await distances(simulator, 'ada', others!)).answers).toBeGreaterThan(fitted.answers);
});
