import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { LocalModel } from '../../../src/core/model/local/model';
import { OpenAiModel } from '../../../src/core/model/openai';
import { ModelServer } from '../../../src/core/modelServer/server';
import { RequestMemory } from '../../../src/core/serving/messages';
import { holdInference } from '../../fixtures/held-model';

let folder: string;
let model: LocalModel;
let server: ModelServer;

const starter = (inference = path.resolve('dist/inference.js')): LocalModel =>
  new LocalModel({ name: 'starter', folder: path.resolve('media/starter'), inference });

const serve = (served: LocalModel, mostAnswers?: number, memory?: RequestMemory): Promise<ModelServer> =>
  ModelServer.start({ model: served, id: 'starter', host: '127.0.0.1', port: 0, mostAnswers, memory });

/** Number of events after which a stream counts as begun: the greeting, then words. */
const BEGUN = 4;

/** Serves a model of its own, which waits with its first answers as soon as a stream has begun. */
async function serveHeld(mostAnswers?: number) {
  const { script, goOn } = holdInference(folder, BEGUN - 1);
  const held = starter(script);
  const place = await serve(held, mostAnswers);
  const close = async (): Promise<void> => {
    await place.close();
    await held.close();
  };
  return { held, place, goOn, [Symbol.asyncDispose]: close };
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-model-server-'));
  model = starter();
  server = await serve(model);
});

afterAll(async () => {
  await server.close();
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

const user = (content: string) => ({ role: 'user', content });
const messages = [user('I need a function that works out the price of tickets with a discount.')];
const greedy = { model: 'starter', messages, temperature: 0 };
/** At this temperature tokens are drawn nearly evenly, so that an answer has hundreds of them. */
const long = { model: 'starter', messages, temperature: 50, seed: 3, max_tokens: 1900 };

const post = (body: unknown, { at = server, signal }: { at?: ModelServer; signal?: AbortSignal } = {}) =>
  fetch(`${at.address}/v1/chat/completions`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: signal ?? null,
  });

const tokenSchema = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.number()) });
const entriesSchema = z.object({
  content: z.array(tokenSchema.extend({ top_logprobs: z.array(tokenSchema) })),
});
const usageSchema = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
});
const wholeSchema = z.object({
  object: z.literal('chat.completion'),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.number(),
      message: z.object({ role: z.literal('assistant'), content: z.string() }),
      finish_reason: z.string(),
      logprobs: entriesSchema.nullable(),
      token_ids: z.array(z.number()).optional(),
    }),
  ),
  usage: usageSchema,
  prompt_token_ids: z.array(z.number()).optional(),
});
const chunkSchema = z.object({
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.object({
      index: z.number(),
      delta: z.object({ role: z.string().optional(), content: z.string().optional() }),
      finish_reason: z.string().nullable(),
      logprobs: entriesSchema.nullable(),
      token_ids: z.array(z.number()).optional(),
    }),
  ),
  usage: usageSchema.nullish(),
  prompt_token_ids: z.array(z.number()).optional(),
});
const errorSchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

async function whole(body: object) {
  const response = await post(body);
  return wholeSchema.parse(await response.json());
}

const textOf = async (body: object): Promise<string> => (await whole(body)).choices[0]!.message.content;

/** The same in a new request, which may read a part of the prompt from memory. */
const near = (logprob: number): number => expect.closeTo(logprob, 4) as number;
const nearToken = (token: z.infer<typeof tokenSchema>) => ({ ...token, logprob: near(token.logprob) });

/** Returns the data of the events of a stream. */
const eventsIn = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));

async function streamed(body: object) {
  const response = await post({ ...body, stream: true });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const events = eventsIn(await response.text());
  expect(events.pop()).toBe('[DONE]');
  return events.map((event) => chunkSchema.parse(JSON.parse(event)));
}

/** Opens a stream and returns its reader when the first words have come. */
async function begun(body: object, at = server): Promise<ReadableStreamDefaultReader<string>> {
  const response = await post({ ...body, stream: true }, { at });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (eventsIn(text).length < BEGUN) text += (await reader.read()).value ?? '';
  return reader;
}

async function rest(reader: ReadableStreamDefaultReader<string>): Promise<string[]> {
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  return eventsIn(text);
}

async function refusal(body: unknown) {
  const response = await post(body);
  return { status: response.status, ...errorSchema.parse(await response.json()).error };
}

describe('the model server', () => {
  it('tells its health and its model', async () => {
    const get = async (where: string): Promise<unknown> => (await fetch(server.address + where)).json();
    expect(await get('/health')).toEqual({ status: 'healthy' });
    const listed = { id: 'starter', object: 'model', owned_by: 'tandem', max_model_len: 2048 };
    expect(await get('/v1/models')).toMatchObject({ object: 'list', data: [listed] });
    expect(await get('/v1/models/starter')).toMatchObject(listed);
    expect(await get('/v1/models/gpt-4o')).toMatchObject({ error: { code: 'model_not_found' } });
    expect(await get('/v1/nowhere')).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect((await fetch(`${server.address}/v1/chat/completions`)).status).toBe(405);
  });

  it('is played over HTTP, token by token, as the model is played here', async () => {
    const asked = [{ role: 'user', content: messages[0]!.content }] as const;
    const sampling = { temperature: 0, maxTokens: 2048 };
    const here = await model.generate(asked, sampling);
    const client = new OpenAiModel({ model: 'starter', baseUrl: `${server.address}/v1`, apiKey: 'none' });
    const there = await client.generate(asked, sampling);
    const { text, finishReason, promptTokenIds, usage, tokens } = here;
    expect(there).toMatchObject({
      ...{ text, finishReason, promptTokenIds, usage },
      tokens: { ids: tokens.ids, logprobs: tokens.logprobs.map(near) },
    });
  });

  it('streams the same answer, token by token, with the counts at the end when asked', async () => {
    const asked = { ...greedy, logprobs: true, top_logprobs: 2, return_token_ids: true };
    const all = await whole(asked);
    const chunks = await streamed({ ...asked, stream_options: { include_usage: true } });
    const last = chunks.pop();
    expect(last).toMatchObject({ choices: [], usage: all.usage });
    expect(chunks[0]).toMatchObject({
      choices: [{ delta: { role: 'assistant', content: '' } }],
      prompt_token_ids: all.prompt_token_ids,
    });
    const choices = chunks.map(({ choices: [choice] }) => choice!);
    expect(chunks.length).toBeGreaterThan(3);
    expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe(all.choices[0]!.message.content);
    expect(choices.flatMap(({ token_ids }) => token_ids ?? [])).toEqual(all.choices[0]!.token_ids);
    expect(choices.flatMap(({ logprobs }) => logprobs?.content ?? [])).toEqual(
      all.choices[0]!.logprobs!.content.map(({ top_logprobs: likely, ...token }) => ({
        ...nearToken(token),
        top_logprobs: likely.map(nearToken),
      })),
    );
    expect(choices.map(({ finish_reason }) => finish_reason).filter((one) => one !== null)).toEqual(['stop']);
    for (const { usage } of chunks) expect(usage).toBeNull();
    for (const { usage } of await streamed(greedy)) expect(usage).toBeUndefined();
  });

  it('lists the most likely tokens with their bytes', async () => {
    const { choices } = await whole({ ...long, max_tokens: 40, logprobs: true, top_logprobs: 5 });
    const { content } = choices[0]!.logprobs!;
    expect(content).toHaveLength(40);
    for (const { logprob, top_logprobs: likely } of content) {
      const values = likely.map((one) => one.logprob);
      expect(values).toEqual([...values].sort((one, other) => other - one));
      expect(values[0]).toBeGreaterThanOrEqual(logprob);
      const together = values.reduce((sum, one) => sum + Math.exp(one), 0);
      expect(together).toBeLessThan(1 + 1e-6);
      expect(new Set(likely.map(({ token }) => token)).size).toBe(5);
    }
    const bytes = Buffer.from(content.flatMap((one) => one.bytes));
    expect(bytes.toString().replace(/<\|\w+\|>/g, '')).toBe(choices[0]!.message.content);
    const best = (await whole({ ...greedy, logprobs: true, top_logprobs: 1 })).choices[0]!.logprobs!.content;
    for (const { top_logprobs, ...token } of best) expect(top_logprobs).toEqual([token]);
  });

  it('ends at a stop string, which is not part of the answer, and at the limit of tokens', async () => {
    const text = await textOf(greedy);
    const word = text.split(' ')[2]!;
    const stopped = await whole({ ...greedy, stop: ['never said', word] });
    expect(stopped.choices[0]).toMatchObject({
      message: { content: text.slice(0, text.indexOf(word)) },
      finish_reason: 'stop',
    });
    const chunks = await streamed({ ...greedy, stop: word });
    expect(chunks.map(({ choices: [choice] }) => choice!.delta.content ?? '').join('')).toBe(
      text.slice(0, text.indexOf(word)),
    );
    for (const field of ['max_tokens', 'max_completion_tokens'])
      expect(await whole({ ...greedy, [field]: 3 })).toMatchObject({
        choices: [{ finish_reason: 'length' }],
        usage: { completion_tokens: 3 },
      });
  });

  it('repeats a seed, alone or among many, and gives each further answer the next seed', async () => {
    const sampled = { ...greedy, temperature: 1.5, max_tokens: 60 };
    const seeds = Array.from({ length: 24 }, (_, seed) => seed);
    const together = await Promise.all(seeds.map((seed) => textOf({ ...sampled, seed })));
    for (const seed of [0, 11]) expect(await textOf({ ...sampled, seed })).toBe(together[seed]);
    expect(new Set(together).size).toBeGreaterThan(12);
    const { choices, usage } = await whole({ ...sampled, seed: 4, n: 3 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual(
      [0, 1, 2].map((index) => [index, together[4 + index]]),
    );
    expect(usage.prompt_tokens).toBe((await whole(greedy)).usage.prompt_tokens);
    const chunks = await streamed({ ...sampled, seed: 4, n: 3 });
    for (const index of [0, 1, 2]) {
      const own = chunks.flatMap(({ choices: [choice] }) => (choice?.index === index ? [choice] : []));
      expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe(together[4 + index]);
    }
  });

  it('says that a conversation is too long, by the code that clients know', async () => {
    const tooLong = { ...greedy, messages: [user('the price of tickets '.repeat(1000))] };
    for (const stream of [false, true])
      expect(await refusal({ ...tooLong, stream })).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
        message: expect.stringContaining('maximum context length is 2048 tokens') as string,
      });
  });

  it('refuses what is not served, what is no JSON, and what is too long', async () => {
    expect(await refusal({ ...greedy, model: 'gpt-4o' })).toMatchObject({
      status: 404,
      param: 'model',
      code: 'model_not_found',
      message: expect.stringContaining('"starter"') as string,
    });
    expect(await refusal('{"model":')).toMatchObject({ status: 400 });
    expect(await refusal({ ...greedy, tools: [{}] })).toMatchObject({ status: 400, param: 'tools' });
    const tooMuch = { ...greedy, messages: [user('x'.repeat(5 * 1024 * 1024))] };
    expect(await refusal(tooMuch)).toMatchObject({ status: 413 });
  });

  it('answers what clients send otherwise', async () => {
    const answer = await textOf({ ...greedy, max_tokens: 4 });
    const body = `\uFEFF${JSON.stringify({ ...greedy, max_tokens: 4, stop: '' })}`;
    for (const where of ['//v1/chat/completions', '/v1/chat/completions/', '/chat/completions']) {
      const response = await fetch(server.address + where, { method: 'POST', body });
      expect(wholeSchema.parse(await response.json()).choices[0]!.message.content).toBe(answer);
    }
    const packed = await fetch(`${server.address}/v1/chat/completions`, {
      ...{ method: 'POST', body: gzipSync(body), headers: { 'content-encoding': 'gzip' } },
    });
    expect(packed.status).toBe(415);
  });

  it('refuses what its memory does not hold, and gives the memory back with each answer', async () => {
    const small = await serve(model, undefined, new RequestMemory(2000));
    try {
      const much = { ...greedy, max_tokens: 1, messages: [user('x'.repeat(2000))] };
      const response = await post(much, { at: small });
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: { code: 'server_overloaded' } });
      for (let round = 0; round < 5; round++)
        expect((await post({ ...much, messages: [user('x'.repeat(1000))] }, { at: small })).status).toBe(200);
    } finally {
      await small.close();
    }
  });

  it('stops writing for a client that has gone, and goes on for the others', async () => {
    await using serving = await serveHeld();
    const { held, place, goOn } = serving;
    const asked = vi.spyOn(held, 'generate');
    const reader = await begun(long, place);
    await reader.cancel();
    const whole = new AbortController();
    const waiting = post(long, { at: place, signal: whole.signal });
    await expect.poll(() => held.counts.requests).toBe(2);
    whole.abort();
    await expect(waiting).rejects.toThrow('aborted');
    await expect
      .poll(() => asked.mock.settledResults.map(({ type }) => type))
      .toEqual(['rejected', 'rejected']);
    goOn();
    // Begun after the others and as long as they are, it ends after they would have ended.
    const answered = await post(long, { at: place });
    const { usage } = wholeSchema.parse(await answered.json());
    expect(usage.completion_tokens).toBeGreaterThan(100);
    expect(held.counts.completionTokens).toBe(usage.completion_tokens);
  });

  it('refuses more answers at once than it may write, as clients know it, until one has ended', async () => {
    await using serving = await serveHeld(2);
    const { held, place: narrow, goOn } = serving;
    const first = await begun(long, narrow);
    const both = { ...greedy, n: 2 };
    const refused = await post(both, { at: narrow });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(errorSchema.parse(await refused.json()).error.code).toBe('rate_limit_exceeded');
    const second = post(greedy, { at: narrow });
    await expect.poll(() => held.counts.requests).toBe(2);
    goOn();
    expect((await second).status).toBe(200);
    await first.cancel();
    await expect.poll(async () => (await post(both, { at: narrow })).status).toBe(200);
    // A request that is alone is answered, however many answers it wants.
    expect((await post({ ...greedy, n: 3 }, { at: narrow })).status).toBe(200);
  });

  it('writes an answer again when the model’s process dies, but ends a stream that has begun', async () => {
    await using serving = await serveHeld();
    const { held, place, goOn } = serving;
    const reader = await begun(long, place);
    const waiting = post(long, { at: place });
    await expect.poll(() => held.counts.requests).toBe(2);
    process.kill(held.processId!, 'SIGKILL');
    goOn();
    const events = await rest(reader);
    expect(errorSchema.parse(JSON.parse(events.at(-1)!)).error).toMatchObject({
      type: 'server_error',
      code: 'model/inference-ended',
    });
    expect(wholeSchema.parse(await (await waiting).json()).choices[0]!.message.content).toBe(
      await textOf(long),
    );
  });

  it('ends with an error for every open request, and waits for no client that is slow to send', async () => {
    await using serving = await serveHeld();
    const { held, place } = serving;
    const { address } = place;
    const slow = openRequest(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-length': 1000 },
    });
    slow.write('{"model":');
    const broken = once(slow, 'error');
    const reader = await begun(long, place);
    const waiting = post(long, { at: place });
    await expect.poll(() => held.counts.requests).toBe(2);
    const [events, response] = await Promise.all([rest(reader), waiting, place.close()]);
    expect(errorSchema.parse(JSON.parse(events.at(-1)!)).error.code).toBe('serving/stopped');
    expect(response.status).toBe(503);
    expect(errorSchema.parse(await response.json()).error.code).toBe('serving/stopped');
    await broken;
    await expect(fetch(`${address}/health`)).rejects.toThrow('fetch failed');
  });
});
