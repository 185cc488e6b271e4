import { expect, test } from 'vitest';
import { Fault } from '../../../src/core/fault';
import type { TimeLimits } from '../../../src/core/model/chat/deadline';
import {
  answer,
  endAfter,
  failAfter,
  garbleAfter,
  reset,
  resetAfter,
  silence,
  stallAfter,
  status,
  type Reply,
} from '../../fixtures/chat-server-replies';
import { errorOf, play, question, sampling } from './play';

const passing: readonly (readonly [string, Reply, Partial<TimeLimits>])[] = [
  ['429', status(429, {}, { 'retry-after': '0' }), {}],
  ['503', status(503), {}],
  ['408', status(408), {}],
  ['a connection that is reset before any header', reset, {}],
  ['a connection that is reset in mid-stream', resetAfter('Half of'), {}],
  ['a stream that ends early', endAfter('Half of'), {}],
  ['a stream that turns into something else', garbleAfter('Half of'), {}],
  ['an overloaded server in mid-stream', failAfter('Half of', { message: 'overloaded', code: 503 }), {}],
  ['a stall in mid-stream', stallAfter('Half of'), { betweenTokensMs: 3_000 }],
  ['a server that does not answer', silence, { firstTokenMs: 5_000 }],
];

test.each(passing)('after %s the turn is asked for again from the start', async (_, misbehaviour, limits) => {
  await using played = await play([misbehaviour, answer('Whole answer.')], { limits });
  let shown = '';
  const restarts: string[] = [];
  const turn = await played.model.generate(question, sampling, {
    onText: (piece) => (shown += piece),
    onRestart: (why) => {
      shown = '';
      restarts.push(why);
    },
  });
  expect(turn).toMatchObject({ text: 'Whole answer.', timing: { attempts: 2 } });
  expect(shown).toBe('Whole answer.');
  expect(restarts).toHaveLength(1);
  expect(restarts[0]).toContain(played.server.url);
  expect(restarts[0]).toContain('attempt 2 of 3');
  expect(played.model.counts).toMatchObject({ requests: 2, retries: 1 });
});

test('the attempts are capped and their number is told', async () => {
  await using played = await play([status(503, { message: 'loading' })]);
  const error = await errorOf(played.model.generate(question, sampling));
  expect(error).toBeInstanceOf(Fault);
  expect(error).toMatchObject({ code: 'model/server-error' });
  expect(String(error)).toContain('(tried 3 times)');
  expect(played.server.requests).toHaveLength(3);
});

test('a server that asks for a longer wait than allowed is not asked again', async () => {
  await using played = await play([status(429, {}, { 'retry-after': '3600' })]);
  const error = await errorOf(played.model.generate(question, sampling));
  expect(error).toMatchObject({ code: 'model/rate-limited' });
  expect(String(error)).toContain('asks to wait 3600 s');
  expect(played.server.requests).toHaveLength(1);
});

test('the wait that a server asks for is the wait that follows', async () => {
  const busy = status(503, {}, { 'retry-after': '40' });
  await using played = await play([busy]);
  const cancel = new AbortController();
  const restarts: string[] = [];
  const turn = played.model.generate(question, sampling, {
    signal: cancel.signal,
    onRestart: (why, attempt) => {
      restarts.push(why);
      expect(attempt).toEqual({ number: 2, of: 3, after: 'model/server-error' });
      cancel.abort();
    },
  });
  expect(await errorOf(turn)).toMatchObject({ name: 'AbortError' });
  expect(restarts.join()).toContain('attempt 2 of 3 follows in 40.0 s');
});

test.each([
  ['before the first token', silence],
  ['while a turn is streaming', answer('a '.repeat(1000), { pieceDelay: 50 })],
  ['while a stream stands still', stallAfter('Half of')],
])('cancel %s ends the turn and the connection at once', async (_, reply) => {
  await using played = await play([reply]);
  const cancel = new AbortController();
  const turn = errorOf(played.model.generate(question, sampling, { signal: cancel.signal }));
  await expect.poll(() => played.server.requests.length).toBe(1);
  cancel.abort();
  expect(await turn).toMatchObject({ name: 'AbortError' });
  expect(await played.server.requests[0]?.ended).toBe('hung up');
});

test('an error in the receiver of the text is not taken for a fault of the server', async () => {
  await using played = await play([answer('one two')]);
  const turn = played.model.generate(question, sampling, {
    onText: () => {
      throw new TypeError('a bug');
    },
  });
  await expect(turn).rejects.toThrow(new TypeError('a bug'));
  expect(played.server.requests).toHaveLength(1);
});
