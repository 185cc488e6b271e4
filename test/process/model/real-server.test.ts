// These tests use llama.cpp's own server with a tiny model with random weights that is made for them.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { NEUTRAL_FIELDS } from '../../../src/core/model/chat/dialect';
import { Sampler } from '../../../src/core/model/local/sampling';
import { OpenAiModel, type OpenAiOptions } from '../../../src/core/model/openai';
import type { SamplingSettings } from '../../../src/core/model/model';
import { pythonSetupLimit } from '../../fixtures/real-server/python';
import { startRealServer, type RealServer } from '../../fixtures/real-server/server';
import { errorOf, question, quickRetry } from '../../unit/model/play';

let server: RealServer;
beforeAll(async () => {
  server = await startRealServer();
}, pythonSetupLimit);
afterAll(() => server.close());

const sampling: SamplingSettings = { temperature: 1, maxTokens: 24, seed: 7 };

function open(options: Partial<OpenAiOptions> = {}): OpenAiModel {
  return new OpenAiModel({
    model: 'tiny',
    baseUrl: server.url,
    apiKey: server.key,
    retry: quickRetry,
    ...options,
  });
}

test('a turn is streamed, counted, and comes with the tokens that were sampled', async () => {
  const model = open();
  const pieces: string[] = [];
  const turn = await model.generate(question, sampling, { onText: (piece) => pieces.push(piece) });
  expect(turn).toMatchObject({
    finishReason: 'length',
    servedModel: 'tiny',
    usage: { completionTokens: 24 },
  });
  expect(turn.usage?.promptTokens).toBeGreaterThan(20);
  expect(pieces.join('')).toBe(turn.text);
  expect(pieces.length).toBeGreaterThan(10);
  expect(turn.tokens?.ids).toHaveLength(24);
  expect(turn.tokens?.logprobs).toHaveLength(24);
  expect(Math.max(...(turn.tokens?.logprobs ?? [1]))).toBeLessThanOrEqual(0);
  expect(turn.text.trim().split(' ')).toHaveLength(24);
  expect(model.notes).toEqual([]);
  expect(model.counts).toMatchObject({ requests: 1, completionTokens: 24 });
});

test("at temperature 1 each token is sampled as often as the model's own probability says, whatever the server's defaults are", async () => {
  const model = open();
  const turns = await Promise.all(
    Array.from({ length: 400 }, (_, seed) => model.generate(question, { ...sampling, maxTokens: 1, seed })),
  );
  // The log-probabilities are the model's own, so they give the expected frequency of each token.
  const share = new Map<number, number>();
  const own = new Map<number, number>();
  for (const { tokens } of turns) {
    const [id, logprob] = [tokens!.ids![0]!, tokens!.logprobs![0]!];
    share.set(id, (share.get(id) ?? 0) + 1 / turns.length);
    own.set(id, Math.exp(logprob));
  }
  expect([...own.values()].reduce((a, b) => a + b)).toBeGreaterThan(0.98);
  // The tolerance is four standard errors; the seeds are fixed.
  for (const [id, probability] of own)
    expect(Math.abs(share.get(id)! - probability)).toBeLessThan(
      4 * Math.sqrt((probability * (1 - probability)) / turns.length),
    );
  expect(turns[0]!.serverSampling).toEqual({ neutral: NEUTRAL_FIELDS });
  expect(model.notes).toEqual([]);
});

test('top-p and min-p take the tokens that have it at the temperature of the turn, as a local model does', async () => {
  const drawn = async (settings: Partial<SamplingSettings>) => {
    const turns = await Promise.all(
      Array.from({ length: 150 }, (_, seed) =>
        open().generate(question, { ...sampling, maxTokens: 1, seed, ...settings }),
      ),
    );
    return new Map(turns.map(({ tokens }) => [tokens!.ids![0]!, tokens!.logprobs![0]!]));
  };
  const all = [...(await drawn({ temperature: 3 }))];
  const { length: vocabulary } = all;
  const logits = new Float32Array(vocabulary).map((_, at) => all[at]![1]);
  for (const settings of [{ topP: 0.7 }, { minP: 0.3 }, { minP: 0.3, topP: 0.6 }]) {
    const here = new Set<number>();
    for (let seed = 0; seed < 2000; seed++)
      here.add(all[new Sampler({ temperature: 2, ...settings, seed }).choose(logits).id]![0]);
    expect(new Set((await drawn({ temperature: 2, ...settings })).keys())).toEqual(here);
  }
  expect((await drawn({ temperature: 2, topK: 2 })).size).toBe(2);
});

test('a turn that the model ended keeps the tokens and log-probabilities that the server gives, and it is said that its end is missing', async () => {
  const ending = await startRealServer({ ends: true });
  onTestFinished(() => ending.close());
  const model = open({ baseUrl: ending.url, apiKey: ending.key });
  const turn = await model.generate(question, { ...sampling, maxTokens: 900 });
  expect(turn.finishReason).toBe('stop');
  const written = turn.usage!.completionTokens - 1;
  expect(turn.tokens?.ids).toHaveLength(written);
  expect(turn.tokens?.logprobs).toHaveLength(written);
  expect(model.notes.join()).toMatch(/gives no log-probability of the token that ends a turn/);
});

test('a wrong path, a wrong key and a dialogue that is too long are told as what they are', async () => {
  const path = open({ baseUrl: server.url.replace('/v1', '/v9') });
  expect(await errorOf(path.generate(question, sampling))).toMatchObject({ code: 'model/unreachable' });
  const key = open({ apiKey: 'wrong' });
  expect(await errorOf(key.generate(question, sampling))).toMatchObject({ code: 'model/unauthorized' });
  const long = [{ role: 'user' as const, content: 'the agent asks '.repeat(1000) }];
  const error = await errorOf(open().generate(long, sampling));
  expect(error).toMatchObject({ code: 'model/too-long' });
  expect(String(error)).toContain('exceeds the available context size');
});
