import { expect, test } from 'vitest';
import { answer, json, raw, status, type Reply } from '../../fixtures/chat-server-replies';
import type { ChatRequest } from '../../fixtures/chat-server';
import { errorOf, play, question, sampling } from './play';

/** Makes a reply that refuses a parameter with `refusal`, and answers without the parameter. */
const refusing =
  (parameter: string, refusal: Reply) =>
  ({ body }: ChatRequest): Reply =>
    parameter in body ? refusal : answer('ok');

test.each([
  ['logprobs', status(403, { message: 'You are not allowed to request logprobs from this model.' })],
  ['logprobs', status(400, { message: "'logprobs' is not supported with this model.", param: 'logprobs' })],
  ['return_token_ids', status(400, { message: 'Unrecognized request argument supplied: return_token_ids' })],
  ['stream_options', status(400, { message: 'Unknown parameter', param: 'stream_options' })],
  [
    'return_token_ids',
    raw(
      'application/json',
      '{"detail":[{"type":"extra_forbidden","loc":["body","return_token_ids"],"msg":"Extra inputs are not permitted"}]}',
      422,
    ),
  ],
  ['seed', raw('application/json', '{"detail":"seed: extra fields not permitted"}', 422)],
])('%s is left out for good once the server refuses it, and that is noted', async (parameter, refusal) => {
  await using played = await play(refusing(parameter, refusal));
  const settings = { ...sampling, seed: 1 };
  expect((await played.model.generate(question, settings)).timing.attempts).toBe(2);
  expect((await played.model.generate(question, settings)).timing.attempts).toBe(1);
  expect(played.model.notes[0]).toContain(`${played.server.url} refuses "${parameter}"; `);
  expect(played.model.counts.retries).toBe(0);
});

test('token counts that come as it writes are asked for only where an answer may be stopped early', async () => {
  const refusal = status(400, { message: 'Unknown field timings_per_token' });
  await using played = await play(refusing('timings_per_token', refusal));
  await played.model.generate(question, sampling);
  expect(played.server.requests).toHaveLength(1);
  await played.model.generate(question, sampling, { enough: () => false });
  expect(played.server.requests).toHaveLength(3);
  expect(played.server.requests[1]?.body.timings_per_token).toBe(true);
  expect(played.model.notes.join()).toContain(
    'the tokens of an answer that is stopped early may not be counted',
  );
});

test('a server that knows only max_completion_tokens is asked with that', async () => {
  const refusal = status(400, {
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param: 'max_tokens',
    code: 'unsupported_parameter',
  });
  await using played = await play(refusing('max_tokens', refusal));
  await played.model.generate(question, sampling);
  expect(played.server.requests.at(-1)?.body.max_completion_tokens).toBe(64);
});

test('a server that refuses several parameters, one after the other, is understood', async () => {
  await using played = await play(({ body }) => {
    const refused = ['logprobs', 'return_token_ids', 'stream_options'].find((name) => name in body);
    return refused
      ? status(400, { message: `Unknown parameter: '${refused}'.` })
      : json({ choices: [{ message: { content: 'ok' } }] });
  });
  expect((await played.model.generate(question, sampling)).text).toBe('ok');
  expect(played.server.requests).toHaveLength(4);
});

test('the temperature is never dropped, because the log would then be wrong', async () => {
  const message = "Unsupported value: 'temperature' does not support 0.7 with this model.";
  await using played = await play([status(400, { message, param: 'temperature' })]);
  expect(String(await errorOf(played.model.generate(question, sampling)))).toContain(message);
});
