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

const cases: readonly (readonly [string, Reply, string, string])[] = [
  [
    '401',
    status(401, { message: 'Invalid API Key' }),
    'model/unauthorized',
    'answers 401: Invalid API Key. Name the variable that holds its key with --key-env',
  ],
  ['403', status(403, { message: 'Project has no access' }), 'model/unauthorized', 'Project has no access'],
  [
    '404 for the model',
    status(404, { message: 'The model `tiny` does not exist' }),
    'model/unknown-model',
    'Correct the name; ',
  ],
  [
    '404 for the path',
    raw('application/json', '{"detail":"Not Found"}', 404),
    'model/unreachable',
    'answers 404: Not Found. Correct the base URL; it usually ends in /v1',
  ],
  [
    "Ollama's bare string",
    raw('application/json', '{"error":"model \\"tiny\\" not found, try pulling it first"}', 404),
    'model/unknown-model',
    'try pulling it first',
  ],
  [
    '429',
    status(429, { message: 'Too many requests' }),
    'model/rate-limited',
    'answers 429: Too many requests',
  ],
  [
    '402',
    status(402, { message: 'Insufficient balance' }),
    'model/rate-limited',
    'answers 402: Insufficient balance. The account has no credit left',
  ],
  ['405', status(405), 'model/unreachable', 'Correct the base URL'],
  [
    '400',
    status(400, { message: 'temperature must be at most 2' }),
    'model/bad-request',
    'answers 400: temperature must be',
  ],
  ...[
    'the request exceeds the available context size, try increasing it',
    "This model's maximum context length is 2048 tokens. However, you requested 2500 tokens",
    'The decoder prompt (length 2500) is longer than the maximum model length of 2048',
    "The input (2500 tokens) is longer than the model's context length (2048 tokens).",
  ].map(
    (message) =>
      [
        `a dialogue that is too long: ${message}`,
        status(400, { message }),
        'model/too-long',
        'take a model with a longer context',
      ] as const,
  ),
  ['413 without a body', raw('text/plain', '', 413), 'model/bad-request', 'answers 413: no explanation'],
  [
    '500',
    status(500, { message: 'CUDA out of memory' }),
    'model/server-error',
    'answers 500: CUDA out of memory',
  ],
  [
    "a gateway's web page",
    raw('text/html', '<html><head><title>502 Bad Gateway</title></head><body>…</body></html>', 502),
    'model/server-error',
    'answers 502: web page "502 Bad Gateway"',
  ],
  [
    'an error inside the stream',
    failAfter('Half of', { message: 'engine died', code: 500 }),
    'model/server-error',
    'answers 500: engine died',
  ],
  [
    'an error with status 200',
    json({ error: { message: 'no provider', code: 503 } }),
    'model/server-error',
    'answers 503: no provider',
  ],
  [
    'a web page with status 200',
    raw('text/html', '<!doctype html><title>Sign in</title>'),
    'model/bad-answer',
    'did not answer JSON but web page "Sign in"',
  ],
  ['plain text', raw('text/plain', 'hello'), 'model/bad-answer', 'did not answer JSON but hello'],
  ['an empty body', raw('application/json', ''), 'model/bad-answer', 'sent an empty answer'],
  ['an empty stream', raw('text/event-stream', ''), 'model/bad-answer', 'sent an empty answer'],
  [
    'a stream without events',
    raw('text/event-stream', 'hello\n\n'),
    'model/bad-answer',
    'sent no answer but hello',
  ],
  [
    'a stream that is not JSON',
    garbleAfter('Half of'),
    'model/bad-answer',
    'sent a stream that cannot be read: …',
  ],
  [
    'another JSON',
    json({ greeting: 'hello' }),
    'model/bad-answer',
    'sent JSON that is no chat completion (choices: ',
  ],
  [
    'an answer that is nested deeply',
    raw('application/json', `{"choices": ${deep}}`),
    'model/bad-answer',
    'sent JSON that is nested too deeply',
  ],
  [
    'a stream that is nested deeply',
    raw('text/event-stream', `data: {"choices": ${deep}}\n\n`),
    'model/bad-answer',
    'sent JSON that is nested too deeply',
  ],
  [
    'a stream with an error that is nested deeply',
    raw('text/event-stream', `data: {"error": ${deep}}\n\n`),
    'model/bad-answer',
    'sent JSON that is nested too deeply',
  ],
  [
    'an error that is nested deeply',
    raw('application/json', `{"error": ${deep}}`, 400),
    'model/bad-request',
    'answers 400: JSON that is nested too deeply',
  ],
  ['no choices', json({ choices: [] }), 'model/bad-answer', 'sent an answer without choices'],
  ['a broken stream', cutAfter('Half of'), 'model/unreachable', 'broke off in the middle of its answer ('],
  ['a stream that ends early', endAfter('Half of'), 'model/unreachable', 'the stream ended early'],
];

test.each(cases)(
  '%s is told in one sentence that names the server and the model',
  async (_, reply, code, part) => {
    await using played = await play([reply], { retry: once });
    const error = await errorOf(played.model.generate(question, sampling));
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).message).toContain(part);
    expect((error as Fault).message).toContain(played.server.url);
    expect((error as Fault).message).toContain('"tiny"');
    expect((error as Fault).message.length).toBeLessThan(500);
    expect((error as Fault).code).toBe(code);
  },
);

test.each([
  [
    'a message',
    endless('text/event-stream', event({ content: circling })),
    'model/too-long-answer',
    'has written 1,000,000 characters of one message and was stopped. Ask again, ',
  ],
  [
    'thoughts',
    endless('text/event-stream', event({ reasoning_content: circling })),
    'model/too-long-answer',
    'was stopped. Ask again, ',
  ],
  ['an error', endless('text/plain', circling, 500), 'model/server-error', 'answers 500: again and again'],
])('%s without an end is stopped, and nothing is asked again', async (_, reply, code, part) => {
  await using played = await play([reply], { retry: once });
  const error = await errorOf(played.model.generate(question, sampling));
  expect(error).toMatchObject({ code, message: expect.stringContaining(part) as string });
  expect(await played.server.requests[0]!.ended).toBe('hung up');
  expect(played.server.requests).toHaveLength(1);
});

test.each([
  [silence, { firstTokenMs: 300 }, 'has not begun to answer after 0.3 s'],
  [
    stallAfter('Half of'),
    { betweenTokensMs: 300 },
    'stopped in the middle of its answer and sent nothing for 0.3 s',
  ],
])('a server that keeps us waiting is told with the limit that it passed', async (reply, limits, part) => {
  await using played = await play([reply], { retry: once, limits });
  const error = await errorOf(played.model.generate(question, sampling));
  expect(error).toMatchObject({ code: 'model/timed-out' });
  expect(String(error)).toContain(part);
});

test('a turn that goes on for too long is ended and not repeated', async () => {
  await using played = await play([answer('a '.repeat(1000), { pieceDelay: 20 })], {
    limits: { totalMs: 300 },
  });
  const error = await errorOf(played.model.generate(question, sampling));
  expect(error).toMatchObject({ code: 'model/timed-out' });
  expect(String(error)).toContain('has not finished its answer after 0.3 s');
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
