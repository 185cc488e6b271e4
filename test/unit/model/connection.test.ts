import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  listModels,
  tryModel,
  type Endpoint,
  type ConnectionProblem,
} from '../../../src/core/model/connection';
import { untrusted } from '../../fixtures/certificate';
import { startChatServer, type ChatServerOptions } from '../../fixtures/chat-server';
import {
  answer,
  cutAfter,
  endAfter,
  json,
  raw,
  reset,
  silence,
  status,
  type Reply,
} from '../../fixtures/chat-server-replies';
import { waitForServers } from '../../fixtures/unhurried';

waitForServers();

/** Starts a server, and returns the address of a model on it. */
async function endpoint(options: ChatServerOptions, key = ''): Promise<Endpoint> {
  const server = await startChatServer(options);
  onTestFinished(() => server.close());
  return { baseUrl: server.url, model: 'tiny', key };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function diagnosis(
  to: Endpoint,
  timeoutMs?: number,
): Promise<{ problem: ConnectionProblem; what: string; remedy: string }> {
  const trial = await tryModel(to, timeoutMs === undefined ? {} : { timeoutMs });
  if (trial.works) throw new Error('The model works.');
  return trial;
}

describe('testing the connection to a model', () => {
  it('asks it for a few words, and tells what it does not give', async () => {
    const trial = await tryModel(await endpoint({ reply: () => answer('Hello.') }));
    expect(trial).toMatchObject({ works: true });
    expect(trial.works && trial.notes.join(' ')).toContain('gives no log-probabilities');
  });

  it('asks with the sampling settings of the connection, so that a value which the server refuses is found', async () => {
    const to = await endpoint({
      reply: ({ body }) =>
        Number(body.top_k) > 100 ? status(400, { message: 'top_k must be at most 100' }) : answer('Hello.'),
    });
    expect(await diagnosis({ ...to, sampling: { topK: 500 } })).toMatchObject({
      what: expect.stringContaining('top_k must be at most 100') as string,
      remedy: 'Change what it names: the model or its sampling settings.',
    });
    expect(await tryModel({ ...to, sampling: { topK: 50 } })).toMatchObject({ works: true });
  });

  it.each<[Reply, ConnectionProblem]>([
    [status(401, { message: 'Bad key sk-1' }), 'wrong-key'],
    [status(403, { message: 'No access' }), 'not-allowed'],
    [raw('text/html', '<title>Nothing here</title>', 404), 'not-openai'],
    [raw('text/html', '<!doctype html><title>Sign in</title>'), 'not-openai'],
    [json({ hello: 'there' }), 'not-openai'],
    [status(429, { message: 'Slow down' }), 'rate-limited'],
    [status(429, { message: 'Quota', code: 'insufficient_quota' }), 'no-credit'],
    [status(402, { message: 'Insufficient balance' }), 'no-credit'],
    [json({ error: { message: 'Gone', code: 'insufficient_quota' } }), 'no-credit'],
    [status(400, { message: 'API key not valid. Please pass a valid API key.' }), 'wrong-key'],
    [status(403, { message: 'Invalid API key' }), 'wrong-key'],
    [status(400, { message: 'tiny is not a valid model ID' }), 'unknown-model'],
    [answer('Half', { finishReason: 'content_filter' }), 'refused-request'],
    [status(400, { message: 'Too long' }), 'refused-request'],
    [status(500, { message: 'CUDA out of memory' }), 'server-error'],
  ])('tells what is wrong and what to do, without the key: %#, %s', async (reply, problem) => {
    const found = await diagnosis(await endpoint({ reply: () => reply }, 'sk-1'));
    expect(found).toMatchObject({ problem });
    for (const sentence of [found.what, found.remedy]) expect(sentence).toMatch(/^\S[^\n]*\.$/);
    expect(found.what + found.remedy).not.toContain('sk-1');
  });

  it('names the models that there are when there is none of that name', async () => {
    const unknown = status(404, { message: 'The model `tiny` does not exist' });
    const models = ['f', 'a', 'b', 'c', 'd', 'e'];
    const found = await diagnosis(await endpoint({ reply: () => unknown, models }));
    expect(found.problem).toBe('unknown-model');
    expect(found.what).toMatch(/^127\.0\.0\.1:\d+ has no model called “tiny”\.$/);
    expect(found.remedy).toBe('Choose one that it has: a, b, c, d, e and 1 more.');
  });

  it.each<[string, Reply, string]>([
    ['before a word', reset, 'HOST closed the connection before it answered.'],
    ['after one word', cutAfter('Hello'), 'HOST closed the connection mid-answer, after 1 word.'],
    [
      'after nine words',
      cutAfter('a b c d e f g h i'),
      'HOST closed the connection mid-answer, after 9 words.',
    ],
    ['without an end', endAfter('Half of'), 'HOST closed the connection mid-answer, after 2 words.'],
    [
      'with a reason',
      answer('Half', { finishReason: 'error' }),
      'HOST broke off mid-answer (finish reason "error").',
    ],
  ])('says how far the answer of a broken connection came: %s', async (_, reply, what) => {
    const to = await endpoint({ reply: () => reply });
    expect(await diagnosis(to)).toMatchObject({
      problem: 'closed',
      what: what.replace('HOST', new URL(to.baseUrl).host),
    });
  });

  it('gives up on a server that takes the request and never answers', async () => {
    const to = await endpoint({ reply: () => silence });
    expect(await diagnosis(to, 100)).toMatchObject({ problem: 'timed-out' });
  });

  it('stops a server that ignores how much it may write', async () => {
    const to = await endpoint({ reply: () => answer('a '.repeat(100_000), { pieceDelay: 1 }) });
    expect(await tryModel(to)).toMatchObject({ works: true });
  });

  it('stops a server that thinks without an end', async () => {
    const thinks: Reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const thought = `data: ${JSON.stringify({ choices: [{ delta: { reasoning_content: 'Hm. ' } }] })}\n\n`;
      response.write(thought.repeat(100));
    };
    expect(await tryModel(await endpoint({ reply: () => thinks }))).toMatchObject({ works: true });
  });

  it('says that nothing listens at a port', async () => {
    const port = await closedPort();
    const found = await diagnosis({ baseUrl: `http://127.0.0.1:${port}/v1`, model: 'tiny' });
    expect(found).toMatchObject({
      problem: 'refused',
      what: `Can't connect to 127.0.0.1:${port}: it refused the connection.`,
    });
  });

  it('says that a certificate is not trusted', async () => {
    const port = await listening(createTlsServer(untrusted, (_, response) => response.end()));
    const found = await diagnosis({ baseUrl: `https://127.0.0.1:${port}/v1`, model: 'tiny' });
    expect(found.problem).toBe('certificate');
    expect(found.what).toContain('SELF_SIGNED');
  });

  it('can be cancelled', async () => {
    const controller = new AbortController();
    const reply = () => {
      controller.abort();
      return silence;
    };
    const trying = tryModel(await endpoint({ reply }), { signal: controller.signal });
    await expect(trying).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('the models of a server', () => {
  it('come in the order of their names', async () => {
    const to = await endpoint({ reply: () => silence, models: ['qwen', 'llama'] });
    expect(await listModels(to)).toEqual({ listed: true, names: ['llama', 'qwen'], owners: [] });
  });

  it.each<[string, object, readonly string[]]>([
    ["Ollama's without models", { object: 'list', data: null }, []],
    ['a list alone', [{ id: 'qwen' }, { id: 'llama', owned_by: 5 }], ['llama', 'qwen']],
    ['names alone', { data: ['qwen'] }, ['qwen']],
    ['entries without a name', { data: [{ id: 7 }, null, { id: 'qwen' }] }, ['qwen']],
    ['a list of megabytes', { data: [{ id: 'qwen', description: 'x'.repeat(2 ** 21) }] }, ['qwen']],
  ])('are read from %s', async (_, list, names) => {
    const server = createHttpServer((_request, response) => response.end(JSON.stringify(list)));
    const baseUrl = `http://127.0.0.1:${await listening(server)}/v1`;
    expect(await listModels({ baseUrl })).toMatchObject({ listed: true, names });
  });

  it('are not there when it has no list, wants a key, answers something else or does not run', async () => {
    const without = await endpoint({ reply: () => silence });
    expect(await listModels(without)).toMatchObject({ listed: false, problem: 'not-openai' });
    const locked = await endpoint({ reply: () => silence, models: [], key: 'secret' });
    expect(await listModels(locked)).toMatchObject({ listed: false, problem: 'no-key' });
    const gone = { baseUrl: `http://127.0.0.1:${await closedPort()}/v1` };
    expect(await listModels(gone)).toMatchObject({ listed: false, problem: 'refused' });
  });
});
