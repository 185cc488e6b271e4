import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { LocalModel } from '../../src/core/model/local/model';
import { temporaryFolder } from '../fixtures/log';
import { startServing, type ServingProcess } from '../fixtures/serving';
import { askNeighbour, runNeighbour } from './python';

let server: ServingProcess;
let model: LocalModel;

beforeAll(async () => {
  server = await startServing(['--model', 'starter']);
  const inference = path.resolve('dist/inference.js');
  model = new LocalModel({ name: 'starter', folder: path.resolve('media/starter'), inference });
});

afterAll(async () => {
  await model.close();
  await server.stop();
});

const questions = ['tickets with a discount', 'parcels by weight', 'a taxi at night'].map(
  (what) => `I need a function that works out the price of ${what}.`,
);

/** Returns what the model writes here, without a server between. */
const written = (content: string) =>
  model.generate([{ role: 'user', content }], { temperature: 0, maxTokens: 200 });

describe('a served model', () => {
  it('is read by OpenAI’s Python package: whole, streamed and many at once', async () => {
    const [question] = questions as [string];
    const { text, usage, finishReason } = await written(question);
    const script = path.resolve('test/neighbours/ask_openai.py');
    const answer = z.object({
      text: z.string(),
      finish: z.string(),
      tokens: z.array(z.string()),
      written: z.number(),
    });
    const told = z
      .object({
        models: z.array(z.string()),
        chat: answer.extend({ likely: z.array(z.array(z.string())) }),
        stream: answer.extend({ deltas: z.array(z.string()) }),
        seeds: z.tuple([z.array(z.string()), z.array(z.string())]),
      })
      .parse(await askNeighbour([script, server.url, 'starter', question]));

    expect(told.models).toEqual(['starter']);
    const same = { text, finish: finishReason, written: usage.completionTokens };
    expect(told.chat).toMatchObject(same);
    expect(told.stream).toMatchObject(same);
    expect(told.stream.deltas.join('')).toBe(text);
    expect(told.stream.tokens).toEqual(told.chat.tokens);
    expect(told.chat.tokens.join('')).toBe(`${text}<|end|>`);
    expect(told.chat.likely.map(([best]) => best)).toEqual(told.chat.tokens);
    const [first, second] = told.seeds;
    expect(first).toEqual(second);
    expect(new Set(first).size).toBeGreaterThan(1);
  });

  it('is asked as the docs show it', async () => {
    const page = await readFile('docs/local-models.md', 'utf8');
    const [, example = ''] = /```python\n(.*?)\n```/s.exec(page) ?? [];
    const printed = await runNeighbour(['-c', example.replace('http://127.0.0.1:8000/v1', server.url)]);
    expect(printed.trim()).not.toBe('');
  });

  it('is evaluated by Inspect AI, which knows a conversation that is too long as such', async () => {
    const here = await Promise.all(questions.map(written));
    const samples = [
      ...questions.map((input, index) => ({ input, target: here[index]!.text })),
      { input: questions.join(' ').repeat(300), target: 'none' },
    ];
    const script = path.resolve('test/neighbours/evaluate_inspect.py');
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, 'samples.json'), JSON.stringify(samples));
    const told = z
      .object({
        status: z.string(),
        error: z.string().nullable(),
        mean: z.number().nullable(),
        samples: z.array(
          z.object({
            text: z.string(),
            stop: z.string(),
            logprobs: z.number().nullable(),
            written: z.number().nullable(),
          }),
        ),
      })
      .parse(await askNeighbour([script, server.url, 'starter', folder]));
    expect(told).toMatchObject({ status: 'success', error: null, mean: 3 / 4 });
    for (const [index, { text, usage }] of here.entries())
      expect(told.samples[index]).toEqual({
        ...{ text, stop: 'stop', logprobs: usage.completionTokens, written: usage.completionTokens },
      });
    expect(told.samples[3]).toMatchObject({ stop: 'model_length' });
  });
});
