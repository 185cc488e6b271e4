// Collects dialogues of a real language model, trains it on them, and plays and scores with the results by every
// runner.
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { LocalModel } from '../../../src/core/model/local/model';
import type { ChatMessage, SamplingSettings } from '../../../src/core/model/model';
import { OpenAiModel } from '../../../src/core/model/openai';
import { scoredSchema } from '../../../src/core/training/score';
import { starterPack } from '../../fixtures/dialogue';
import { realModel } from '../../fixtures/real-model/folder';
import { serveModel, type RealServer } from '../../fixtures/real-server/server';
import { runNode } from '../../fixtures/tasks';
import { collectLog } from '../../fixtures/trainer';

const { gguf, folder: base } = realModel();
const folder = mkdtempSync(path.join(tmpdir(), 'tandem-real-'));
const data = path.join(folder, '.tandem');
const question: readonly ChatMessage[] = [{ role: 'user', content: 'Write a function that adds up prices.' }];
const greedy: SamplingSettings = { temperature: 0, maxTokens: 12 };

const dialogue = {
  task: {
    id: 'prices',
    problem_description: 'Add up the prices of a list.\ndef total(prices):',
    ground_truth: 'def total(prices):\n    return sum(prices)',
    test_cases: { test1: 'total([1, 2])' },
  },
  dialogue_history: [
    { role: 'agent', content: 'What is the price of an empty list?' },
    { role: 'human', content: 'It is 0.' },
    { role: 'agent', content: 'I WANT TO ANSWER:\nreturn sum(prices)' },
  ],
  answer: 'return sum(prices)',
};

let server: RealServer;

beforeAll(async () => {
  server = await serveModel(gguf, 'smollm2');
  process.env.KEY_OF_THE_TEST = server.key;
  await writeFile(path.join(folder, 'short.md'), '{{description}}');
});
afterAll(async () => {
  delete process.env.KEY_OF_THE_TEST;
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command of Tandem and parses its JSON. */
async function tandem<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runNode(['dist/tandem.js', ...args, '--json']);
  expect(code, stderr).toBe(0);
  return z.object({ summary: schema }).parse(JSON.parse(stdout)).summary;
}

const collected = z.object({ total: z.number(), done: z.number(), failed: z.number() });
const sides = z.object({ agent: z.object({ usage: z.object({ completionTokens: z.number() }) }) });

it('plays as agent and as simulator at a server, and as agent here', async () => {
  const served = `openai:smollm2@${server.url}`;
  const common = [
    '--tasks',
    starterPack,
    '--limit',
    '1',
    '--max-turns',
    '2',
    '--max-tokens',
    '16',
    '--data',
    data,
  ];
  const key = ['--key-env', 'KEY_OF_THE_TEST'];
  const there = await tandem(
    collected.and(sides),
    ...['collect', '--agent', served, '--simulator', served, '--reply-limit', '80', ...key, ...common],
  );
  expect(there).toMatchObject({ total: 1, done: 1, failed: 0 });
  expect(there.agent.usage.completionTokens).toBeLessThanOrEqual(32);
  const here = await tandem(
    collected,
    'collect',
    '--agent',
    `local:${base}`,
    '--simulator',
    'rules',
    ...common,
  );
  expect(here).toMatchObject({ total: 1, done: 1, failed: 0 });
});

it('is trained by SWEET-RL, and what comes out is played and scored with by everything that can', async () => {
  // The untuned model solves no task, so it learns from dialogues of other agents.
  await collectLog(data, 4);
  const stage = { learning_rate: 1e-4, batch: 2, patience: 0, evaluate_every: 1000, epochs: 1, max_steps: 2 };
  const configuration = {
    name: 'real',
    model: { base, device: 'cpu', lora_rank: 4 },
    data: { log: '.tandem', held_out: 0.25, opening: 'short.md' },
    critic: stage,
    candidates: { per_turn: 2, pairs_per_turn: 1, trajectories: 0.1, max_new_tokens: 8 },
    policy: stage,
    export: { onnx: ['fp32'] },
    resources: { token_budget: 2048, checkpoint_activations: false },
  };
  const file = path.join(folder, 'real.json');
  await writeFile(file, JSON.stringify(configuration));
  const run = await tandem(
    z.object({ folder: z.string(), state: z.string() }),
    ...['train', file, '--data', data, '--follow'],
  );
  expect(run.state).toBe('done');

  const trained = path.join(run.folder, 'model');
  const here = new LocalModel({
    name: 'local:trained',
    folder: trained,
    inference: path.resolve('dist/inference.js'),
  });
  const said = await here.generate(question, greedy);
  await here.close();
  const back = path.join(folder, 'trained.gguf');
  await tandem(z.unknown(), 'convert', trained, back, '--precision', 'fp32');
  const again = await serveModel(back, 'trained');
  const there = new OpenAiModel({ model: 'trained', baseUrl: again.url, apiKey: again.key });
  expect((await there.generate(question, greedy)).text).toBe(said.text);
  await again.close();

  const critic = path.join(run.folder, 'critic');
  const dialogues = path.join(folder, 'dialogues.jsonl');
  await writeFile(dialogues, [0, 1].map((reward) => `${JSON.stringify({ ...dialogue, reward })}\n`).join(''));
  const scores = async (runner: string) => {
    const rows = path.join(folder, `${runner}.jsonl`);
    await tandem(z.unknown(), 'score', dialogues, '--critic', critic, '--runner', runner, '--out', rows);
    return (await readFile(rows, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => scoredSchema.parse(JSON.parse(line)));
  };
  const [byOnnx, byTrainer] = [await scores('onnx'), await scores('trainer')];
  const advantages = (rows: typeof byOnnx) =>
    rows.flatMap(({ id, turns }) =>
      turns.map(({ turn, advantage }) => [`${id}/${turn}`, advantage] as const),
    );
  const trainers = new Map(advantages(byTrainer));
  expect([advantages(byOnnx).length, advantages(byTrainer).length]).toEqual([4, 4]);
  for (const [turn, advantage] of advantages(byOnnx)) expect(advantage).toBeCloseTo(trainers.get(turn)!, 3);
}, 1_800_000);
