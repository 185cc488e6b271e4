import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Runs } from '../../../src/core/training/runs';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { agentTurn, answered, dialogue, doubling, reply, started } from '../../fixtures/log';
import { realTrainer, tinyModel } from '../../fixtures/trainer';
import { tandem } from './tandem';

// The real trainer learns from a log of dialogues about web pages, with a model of random weights.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-train-pages-'));
const data = path.join(folder, '.tandem');

const page = (title: string, color: string): string =>
  `<html><body class="bg-${color}"><h1>${title}</h1></body></html>`;

/** Of each task one dialogue gets better with every draft, and one worse. */
function played(task: string, episode: string, scores: readonly number[]): NewEvent[] {
  const drafts = scores.map((score, index) => ({ turn: index + 1, score }));
  const score = scores.at(-1)!;
  const measured = { measure: 'structure', version: 1, parts: {}, renderer: 'Chromium 140', score, drafts };
  const messages = drafts.flatMap(({ turn }) => [
    agentTurn(episode, turn, `OUTPUT:\n${page(task, `gray-${turn}00`)}`),
    ...(turn < drafts.length ? [reply(episode, turn)] : []),
  ]);
  return [
    started(episode, { task, prompts: {}, protocol: { maxTurns: 10, replyLimit: 1000 } }),
    ...messages,
    answered(episode, drafts.length, page(task, 'gray-100')),
    {
      ...{ event: 'grade', episode },
      grade: { mode: 'fixed', reward: score, success: null, tests: [], page: measured },
    },
  ];
}

const stage = { learning_rate: 1e-2, batch: 2, patience: 0, evaluate_every: 1000, epochs: 1, max_steps: 2 };
const configuration = {
  model: { base: 'base', device: 'cpu', lora_rank: 2 },
  data: { log: '.tandem', held_out: 0.4 },
  critic: stage,
  candidates: { per_turn: 2, pairs_per_turn: 1, trajectories: 0.1, max_new_tokens: 4 },
  policy: stage,
  resources: { token_budget: 8192, checkpoint_activations: false, threads: 1 },
};

async function write(changes: object = {}): Promise<string> {
  const file = path.join(folder, 'pages.run.json');
  const content = { ...configuration, data: { ...configuration.data, ...changes } };
  await writeFile(file, JSON.stringify(content));
  return file;
}

beforeAll(async () => {
  realTrainer();
  await tinyModel(path.join(folder, 'base'));
  const log = await TrajectoryLog.open(data);
  for (const name of ['Bakery', 'Florist', 'Harbour', 'Library', 'Orchard']) {
    const reference = page(name, 'gray-300');
    await log.recordTask({ kind: 'page', id: name, description: `A page: ${name}.`, reference });
    await log.appendAll(played(name, `${name}-better`, [0.4, 0.6, 0.9]));
    await log.appendAll(played(name, `${name}-worse`, [0.5, 0.45]));
  }
  await log.recordTask(doubling);
  await log.appendAll(dialogue('function', 1));
  await log.close();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it('trains on pages, and compares the critic’s credits with the gains of drafts', async () => {
  const mixed = await tandem('train', await write(), '--data', data);
  expect(mixed.code).not.toBe(0);
  expect(mixed.stderr).toContain('set data.measure to "structure" or "tests"');

  const trained = await tandem('train', await write({ measure: 'structure' }), '--data', data, '--follow');
  expect([trained.code, trained.stderr]).toEqual([0, trained.stderr]);
  expect(trained.stdout + trained.stderr).toContain('credits against the gains of drafts, held out');

  // The refused one left no run.
  const runs = await new Runs(data).list();
  expect(runs.map(({ state }) => state)).toEqual(['done']);
  const run = runs[0]!.folder;
  expect(await readFile(path.join(run, 'critic', 'README.md'), 'utf8')).toContain('regression head');

  const rows = path.join(run, 'data', 'trajectories.jsonl');
  const scored = await tandem('score', '--critic', path.join(run, 'critic'), rows);
  expect(scored.stdout).toMatch(
    /Rank correlation with the gains of drafts: advantage [+−]\d\.\d\d .* over 10 dialogues;/,
  );
});
