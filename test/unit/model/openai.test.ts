import { expect, test } from 'vitest';
import { answer, stallAfter } from '../../fixtures/chat-server-replies';
import { play, question, sampling } from './play';

test('a turn is streamed piece by piece and returned whole', async () => {
  await using played = await play([answer('What does round mean here?', { servedModel: 'tiny-2026-11' })]);
  const pieces: string[] = [];
  const turn = await played.model.generate(question, sampling, { onText: (piece) => pieces.push(piece) });
  expect(turn).toMatchObject({
    text: 'What does round mean here?',
    finishReason: 'stop',
    servedModel: 'tiny-2026-11',
    usage: { promptTokens: 7, completionTokens: 5 },
  });
  expect(pieces).toEqual(['What ', 'does ', 'round ', 'mean ', 'here?']);
  expect(turn.timing.attempts).toBe(1);
  expect(turn.timing.firstTextMs).toBeLessThanOrEqual(turn.timing.totalMs);
});

test('messages and sampling settings reach the server as it knows them', async () => {
  await using played = await play([answer('ok')]);
  await played.model.generate(question, {
    temperature: 0.2,
    topP: 0.9,
    maxTokens: 12,
    seed: 3,
    stop: ['\n\n'],
  });
  expect(played.server.requests[0]?.body).toMatchObject({
    model: 'tiny',
    messages: question,
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.2,
    top_p: 0.9,
    max_tokens: 12,
    seed: 3,
    stop: ['\n\n'],
    logprobs: true,
    return_token_ids: true,
  });
});

test("vLLM's token ids and log-probabilities are kept as they were sampled", async () => {
  const reply = answer('def f', {
    pieces: ['def', ' f', ''],
    tokenIds: [5, 6, 2],
    promptTokenIds: [1, 9, 9],
    logprobs: [-0.5, -1.25, -0.01],
  });
  await using played = await play([reply]);
  const turn = await played.model.generate(question, sampling);
  expect(turn.tokens).toEqual({ ids: [5, 6, 2], logprobs: [-0.5, -1.25, -0.01] });
  expect(turn.promptTokenIds).toEqual([1, 9, 9]);
  expect(played.model.notes).toEqual([]);
});

test.each([
  ['by the ids in their names', { tokenNames: ['token_id:5', 'token_id:6'] }],
  ['by their text', {}],
])('log-probabilities that lack only the token that ended the turn, %s, are kept', async (_, named) => {
  const reply = answer('def f', {
    pieces: ['def', ' f', ''],
    tokenIds: [5, 6, 2],
    logprobs: [-0.5, -1.25],
    ...named,
  });
  await using played = await play([reply]);
  expect((await played.model.generate(question, sampling)).tokens).toEqual({
    ids: [5, 6, 2],
    logprobs: [-0.5, -1.25],
  });
  expect(played.model.notes).toEqual([
    `The server at ${played.server.url} gives no log-probability of the token that ends a turn; those of the others are recorded.`,
  ]);
});

test.each([
  ['their text is not all of it', { pieces: ['', ' f', 'def'] }],
  ['the turn was cut', { finishReason: 'length' }],
  ['their ids are others', { tokenNames: ['token_id:6', 'token_id:2'] }],
])('one log-probability fewer than tokens is not matched with them when %s', async (_, differently) => {
  const spoken = { pieces: ['def', ' f', ''], tokenIds: [5, 6, 2], logprobs: [-0.5, -1.25] };
  await using played = await play([answer('def f', { ...spoken, ...differently })]);
  expect((await played.model.generate(question, sampling)).tokens).toEqual({ ids: [5, 6, 2] });
  expect(played.model.notes[0]).toContain('gives token data that does not add up');
});

test('log-probabilities that do not fit the token ids are left out, with a note', async () => {
  const reply = answer('a b', { ignoreStream: true, tokenIds: [5, 6, 7, 8], logprobs: [-1, -2] });
  await using played = await play([reply]);
  const turn = await played.model.generate(question, sampling);
  expect(turn.tokens).toEqual({ ids: [5, 6, 7, 8] });
  expect(played.model.notes).toEqual([
    `The server at ${played.server.url} gives token data that does not add up: 2 log-probabilities came with 4 token ids.`,
  ]);
});

test("a reasoning model's thoughts are kept apart from its text", async () => {
  await using played = await play([answer('Which currency?', { reasoning: 'The unit is not said.' })]);
  let shown = '';
  const turn = await played.model.generate(question, sampling, { onText: (piece) => (shown += piece) });
  expect(turn).toMatchObject({ text: 'Which currency?', reasoning: 'The unit is not said.' });
  expect(shown).toBe('Which currency?');
});

test('a server that ignores streaming is understood', async () => {
  await using played = await play([answer('All at once.', { ignoreStream: true })]);
  const pieces: string[] = [];
  const turn = await played.model.generate(question, sampling, { onText: (piece) => pieces.push(piece) });
  expect(turn).toMatchObject({ text: 'All at once.', usage: { promptTokens: 7 } });
  expect(turn.timing.firstTextMs).toBeUndefined();
  expect(pieces).toEqual(['All at once.']);
});

test('characters and lines that are cut anywhere in the stream arrive whole', async () => {
  const text = 'Größe – 価格は? 👩‍💻 done';
  await using played = await play([answer(text, { sliceBytes: 3 })]);
  expect((await played.model.generate(question, sampling)).text).toBe(text);
});

/** Text of a rambling model, which the caller aborts after five words. */
const rambling = 'on and '.repeat(10);

function fiveWords() {
  const heard: string[] = [];
  return {
    heard,
    options: { onText: (piece: string) => void heard.push(piece), enough: () => heard.length >= 5 },
  };
}

test('an answer of which the caller has enough is stopped at the server, and kept as far as it came', async () => {
  await using played = await play([stallAfter(rambling)]);
  const { heard, options } = fiveWords();
  const turn = await played.model.generate(question, sampling, options);
  expect(turn).toMatchObject({ text: 'on and on and on ', finishReason: 'other' });
  expect(heard.join('')).toBe(turn.text);
  expect(await played.server.requests[0]?.ended).toBe('hung up');
  expect(played.server.requests).toHaveLength(1);
  expect(played.model.notes).toEqual([]);
});

test('the tokens of a stopped answer are counted where the server tells them as they come, else it is said that they are not', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => index);
  const withoutPrompt = { tokenIds: ids };
  const withPrompt = { tokenIds: ids, promptTokenIds: [1, 9, 9] };
  await using played = await play([
    stallAfter(rambling, withPrompt),
    stallAfter(rambling, withoutPrompt),
    stallAfter(rambling, { countsSoFar: true }),
  ]);
  const usages = [];
  for (let turn = 0; turn < 3; turn++)
    usages.push((await played.model.generate(question, sampling, fiveWords().options)).usage);
  expect(usages).toEqual([
    { promptTokens: 3, completionTokens: 5 },
    undefined,
    { promptTokens: 7, completionTokens: 5 },
  ]);
  expect(played.model.counts).toMatchObject({
    promptTokens: 10,
    completionTokens: 15,
    answersWithoutUsage: 1,
  });
});
