// Trains a real language model, and plays the result here and in llama.cpp.
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import * as z from 'zod';
import { LocalModel } from '../../../src/core/model/local/model';
import type { ChatMessage, SamplingSettings } from '../../../src/core/model/model';
import { OpenAiModel } from '../../../src/core/model/openai';
import { realModel } from '../../fixtures/real-model/folder';
import { serveModel } from '../../fixtures/real-server/server';
import { runNode } from '../../fixtures/tasks';
import { collectLog } from '../../fixtures/trainer';

const { folder: base } = realModel();
const folder = mkdtempSync(path.join(tmpdir(), 'tandem-real-'));
const data = path.join(folder, '.tandem');
const question: readonly ChatMessage[] = [{ role: 'user', content: 'Write a function that adds up prices.' }];
const greedy: SamplingSettings = { temperature: 0, maxTokens: 12 };

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command of Tandem and parses its JSON. */
async function tandem<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runNode(['dist/tandem.js', ...args, '--json']);
  expect(code, stderr).toBe(0);
  return z.object({ summary: schema }).parse(JSON.parse(stdout)).summary;
}

it('is trained by SWEET-RL, and the result writes the same here and, converted, in llama.cpp', async () => {
  // The untuned model solves no task, so it learns from dialogues of other agents.
  await collectLog(data, 4);
  await writeFile(path.join(folder, 'short.md'), '{{description}}');
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
}, 1_800_000);
