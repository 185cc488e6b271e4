import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Fault } from '../../../src/core/fault';
import { OpenAiModel } from '../../../src/core/model/openai';
import {
  answer,
  cutAfter,
  endAfter,
  failAfter,
  garbleAfter,
  json,
  raw,
  silence,
  stallAfter,
  status,
  type Reply,
} from '../../fixtures/chat-server-replies';
import { errorOf, play, question, quickRetry, sampling } from './play';

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

/** Makes a reply that repeats a text until the client hangs up. */
const endless =
  (contentType: string, piece: string, code = 200): Reply =>
  async (response) => {
    response.writeHead(code, { 'content-type': contentType });
    while (!response.closed) {
      response.write(piece);
      await sleep(1);
    }
  };
const circling = 'again and again '.repeat(5000);
const event = (delta: object): string => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;

const once = { ...quickRetry, attempts: 1 };

const cases: readonly (readonly [string, Reply, string])[] = [
  ['401', status(401, { message: 'Invalid API Key' }), 'model/unauthorized'],
  ['403', status(403, { message: 'Project has no access' }), 'model/unauthorized'],
  ['404 for the model', status(404, { message: 'The model `tiny` does not exist' }), 'model/unknown-model'],
  ['404 for the path', raw('application/json', '{"detail":"Not Found"}', 404), 'model/unreachable'],
  [
    "Ollama's bare string",
    raw('application/json', '{"error":"model \\"tiny\\" not found"}', 404),
    'model/unknown-model',
  ],
  ['429', status(429, { message: 'Too many requests' }), 'model/rate-limited'],
  ['402', status(402, { message: 'Insufficient balance' }), 'model/no-credit'],
  ['405', status(405), 'model/unreachable'],
  ['400', status(400, { message: 'temperature must be at most 2' }), 'model/bad-request'],
  ...[
    'the request exceeds the available context size, try increasing it',
    "This model's maximum context length is 2048 tokens. However, you requested 2500 tokens",
    'The decoder prompt (length 2500) is longer than the maximum model length of 2048',
    "The input (2500 tokens) is longer than the model's context length (2048 tokens).",
  ].map(
    (message) =>
      [`a dialogue that is too long: ${message}`, status(400, { message }), 'model/too-long'] as const,
  ),
  ['413 without a body', raw('text/plain', '', 413), 'model/bad-request'],
  ['500', status(500, { message: 'CUDA out of memory' }), 'model/server-error'],
  ["a gateway's web page", raw('text/html', '<title>502 Bad Gateway</title>', 502), 'model/server-error'],
  [
    'an error in the stream',
    failAfter('Half of', { message: 'engine died', code: 500 }),
    'model/server-error',
  ],
  ['an error with status 200', json({ error: { message: 'no provider', code: 503 } }), 'model/server-error'],
  ['a web page with status 200', raw('text/html', '<title>Sign in</title>'), 'model/bad-answer'],
  ['plain text', raw('text/plain', 'hello'), 'model/bad-answer'],
  ['an empty stream', raw('text/event-stream', ''), 'model/bad-answer'],
  ['a stream that is not JSON', garbleAfter('Half of'), 'model/bad-answer'],
  ['another JSON', json({ greeting: 'hello' }), 'model/bad-answer'],
  ['a deeply nested answer', raw('application/json', `{"choices": ${deep}}`), 'model/bad-answer'],
  ['a deeply nested stream', raw('text/event-stream', `data: {"choices": ${deep}}\n\n`), 'model/bad-answer'],
  ['a deeply nested error', raw('application/json', `{"error": ${deep}}`, 400), 'model/bad-request'],
  ['no choices', json({ choices: [] }), 'model/bad-answer'],
  ['a broken stream', cutAfter('Half of'), 'model/unreachable'],
  ['a stream that ends early', endAfter('Half of'), 'model/unreachable'],
];

test.each(cases)('%s becomes one sentence with the server and the model', async (_, reply, code) => {
  await using played = await play([reply], { retry: once });
  const error = (await errorOf(played.model.generate(question, sampling))) as Fault;
  expect(error).toBeInstanceOf(Fault);
  expect(error.code).toBe(code);
  for (const part of [played.server.url, '"tiny"']) expect(error.message).toContain(part);
  expect(error.message.length).toBeLessThan(500);
});

test.each([
  ['a message', endless('text/event-stream', event({ content: circling })), 'model/too-long-answer'],
  ['thoughts', endless('text/event-stream', event({ reasoning_content: circling })), 'model/too-long-answer'],
  ['an error', endless('text/plain', circling, 500), 'model/server-error'],
])('%s without an end is stopped, and nothing is asked again', async (_, reply, code) => {
  await using played = await play([reply], { retry: once });
  expect(await errorOf(played.model.generate(question, sampling))).toMatchObject({ code });
  expect(await played.server.requests[0]!.ended).toBe('hung up');
  expect(played.server.requests).toHaveLength(1);
});

test.each<[Reply, object]>([
  [silence, { firstTokenMs: 300 }],
  [stallAfter('Half of'), { betweenTokensMs: 300 }],
  [answer('a '.repeat(1000), { pieceDelay: 20 }), { totalMs: 300 }],
])('a server that exceeds a time limit is told so and not asked again: %#', async (reply, limits) => {
  await using played = await play([reply], { retry: once, limits });
  const error = await errorOf(played.model.generate(question, sampling));
  expect(error).toMatchObject({
    code: 'model/timed-out',
    message: expect.stringContaining('0.3 s') as string,
  });
  expect(played.model.counts.requests).toBe(1);
});

test('a server that is not there is told with the reason', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  const model = new OpenAiModel({
    model: 'tiny',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: '',
    retry: quickRetry,
  });
  const error = await errorOf(model.generate(question, sampling));
  expect(error).toMatchObject({ code: 'model/unreachable' });
  expect(String(error)).toContain('(ECONNREFUSED) (tried 3 times). Start the server or correct the address.');
});

test('the key is in no message, even when the server repeats it', async () => {
  const key = 'sk-secret-123';
  await using played = await play([status(401, { message: `Incorrect API key provided: ${key}` })], {
    apiKey: key,
  });
  const error = (await errorOf(played.model.generate(question, sampling))) as Fault;
  expect(error.message).toContain('Incorrect API key provided: [key]');
  expect(
    `${error.message} ${error.stack ?? ''} ${JSON.stringify(error)} ${String(error.cause)}`,
  ).not.toContain(key);
});
