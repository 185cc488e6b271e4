import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { Runs } from '../../../src/core/training/runs';
import { realTrainer } from '../../fixtures/trainer';
import { tandem } from './tandem';

// The real trainer ranks candidates by what the starter model makes of them, which `tandem serve` plays.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-train-played-'));
const data = path.join(folder, '.tandem');

const configuration = {
  model: { base: path.resolve('media/starter'), training: 'full', device: 'cpu' },
  data: { log: data, held_out: 0 },
  critic: { score: 'answer-now', samples: 2, max_turns: 4 },
  candidates: { per_turn: 4, trajectories: 1, max_new_tokens: 64 },
  policy: { loss: 'projection', max_steps: 2 },
  resources: { threads: 1 },
};

beforeAll(async () => {
  realTrainer();
  const play = ['--tasks', path.resolve('samples/workspace/starter-world.jsonl'), '--limit', '3'];
  const players = ['--agent', 'starter', '--simulator', 'rules', '--max-turns', '4', '--jobs', '1'];
  expect((await tandem('collect', ...play, ...players, '--data', data)).code).toBe(0);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const samples = z.object({
  event: z.literal('sample'),
  candidates: z.array(z.object({ score: z.number().min(0).max(1), text: z.string() })),
});

it('trains by the answers that the base model gives after each candidate, without a critic', async () => {
  const file = path.join(folder, 'played.run.json');
  await writeFile(file, JSON.stringify(configuration));
  const trained = await tandem('train', file, '--data', data, '--follow');
  expect([trained.code, trained.stderr]).toEqual([0, trained.stderr]);
  const [run] = await new Runs(data).list();
  const lines = (await readFile(path.join(run!.folder, 'events.jsonl'), 'utf8')).trim().split('\n');
  const ranked = lines.flatMap((line) => samples.safeParse(JSON.parse(line)).data ?? []);
  const scores = ranked.flatMap(({ candidates }) => candidates.map(({ score }) => score));
  // Only forced answers that are code pass tests.
  expect(Math.max(...scores)).toBeGreaterThan(0);
  expect(new Set(scores).size).toBeGreaterThan(1);
});
