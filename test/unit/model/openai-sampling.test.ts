import { expect, test } from 'vitest';
import { NEUTRAL, NEUTRAL_FIELDS } from '../../../src/core/model/chat/dialect';
import { OpenAiModel } from '../../../src/core/model/openai';
import { answer, raw, status, type Reply } from '../../fixtures/chat-server-replies';
import type { ChatRequest } from '../../fixtures/chat-server';
import { errorOf, play, question, sampling } from './play';

type Body = ChatRequest['body'];

/** Makes a server that reports the problem that `check` finds in a request, and otherwise answers correctly. */
const checking =
  (check: (body: Body) => string | undefined) =>
  ({ body }: ChatRequest): Reply => {
    const message = check(body);
    return message === undefined ? answer('ok') : status(400, { message });
  };

test('what a server does to the distribution by itself is switched off, and the log says so', async () => {
  await using played = await play([answer('ok')]);
  const { serverSampling } = await played.model.generate(question, sampling);
  expect(played.server.requests[0]?.body).toMatchObject(NEUTRAL);
  expect(serverSampling).toEqual({ neutral: NEUTRAL_FIELDS });
});

test('what a person chose is sent in place of the neutral value', async () => {
  await using played = await play([answer('ok')]);
  const chosen = { topP: 0.9, topK: 20, minP: 0.05 };
  const { serverSampling } = await played.model.generate(question, { ...sampling, ...chosen });
  const sent = { top_p: 0.9, top_k: 20, min_p: 0.05 };
  expect(played.server.requests[0]?.body).toMatchObject({ ...NEUTRAL, ...sent });
  expect(serverSampling?.neutral).toEqual(NEUTRAL_FIELDS.filter((field) => !(field in sent)));
});

test("OpenAI's own server, which has nothing to switch off, is sent nothing", async () => {
  const asked: Body[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (...request) => {
    asked.push((await new Request(...request).json()) as Body);
    return Response.json({ choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] });
  };
  try {
    const model = new OpenAiModel({ model: 'm', baseUrl: 'https://api.openai.com/v1', apiKey: 'k' });
    const { serverSampling } = await model.generate(question, { ...sampling, topP: 1 });
    expect(NEUTRAL_FIELDS.filter((field) => field in asked[0]!)).toEqual([]);
    expect(serverSampling).toBeUndefined();
  } finally {
    globalThis.fetch = fetch;
  }
});

test.each(NEUTRAL_FIELDS)(
  'a server that does not know %s is asked without it, and it is named',
  async (field) => {
    await using played = await play(
      checking((body) => (field in body ? `Unrecognized request argument supplied: ${field}` : undefined)),
    );
    const first = await played.model.generate(question, sampling);
    const others = NEUTRAL_FIELDS.filter((other) => other !== field);
    expect(first.serverSampling).toEqual({ neutral: others, refused: [field] });
    expect((await played.model.generate(question, sampling)).timing.attempts).toBe(1);
    expect(played.model.notes[0]).toBe(
      `The server at ${played.server.url} refuses "${field}"; its own values, if it has any, are in force.`,
    );
  },
);

test.each(NEUTRAL_FIELDS)(
  'a server that takes %s but not the neutral value is asked without it',
  async (field) => {
    await using played = await play(
      checking((body) => (field in body ? `${field} must be between 2 and 100` : undefined)),
    );
    const { serverSampling } = await played.model.generate(question, sampling);
    expect(serverSampling?.refused).toEqual([field]);
  },
);

test('a server that switches top-k off by 0 is asked by 0, and refuses nothing', async () => {
  await using played = await play(
    checking(({ top_k }) =>
      Number(top_k) < 0 ? 'top_k: Input should be greater than or equal to 0' : undefined,
    ),
  );
  const { serverSampling } = await played.model.generate(question, sampling);
  expect(played.server.requests.at(-1)?.body.top_k).toBe(0);
  expect(serverSampling).toEqual({ neutral: NEUTRAL_FIELDS });
  expect(played.model.notes.join()).not.toContain('refuses');
});

test('a server that takes temperature or top-p but not both is asked without top-p, unless a person chose it', async () => {
  const both = '`temperature` and `top_p` cannot both be specified for this model. Please use only one.';
  await using played = await play(checking((body) => ('top_p' in body ? both : undefined)));
  const { serverSampling } = await played.model.generate(question, sampling);
  expect(serverSampling?.refused).toEqual(['top_p']);
  const chosen = played.model.generate(question, { ...sampling, topP: 0.5 });
  expect(String(await errorOf(chosen))).toContain(both);
});

// FastAPI and `transformers serve` report errors in these forms.
test.each([
  (names: string[]) =>
    JSON.stringify({
      detail: names.map((name) => ({
        type: 'extra_forbidden',
        loc: ['body', name],
        msg: 'Extra inputs are not permitted',
        input: 0,
      })),
    }),
  (names: string[]) =>
    JSON.stringify({ detail: `Unexpected keys in the request: {'${names.join("', '")}'}` }),
])(
  'a server that lists all it does not know is asked once more, and all are named in one sentence',
  async (list) => {
    const unknown = ['min_p', 'samplers', 'mirostat'];
    await using played = await play(({ body }) => {
      const named = unknown.filter((name) => name in body);
      return named.length > 0 ? raw('application/json', list(named), 422) : answer('ok');
    });
    const { timing, serverSampling } = await played.model.generate(question, sampling);
    expect(timing.attempts).toBe(2);
    expect(serverSampling?.refused).toEqual(['min_p', 'mirostat', 'samplers']);
    expect(played.model.notes[0]).toBe(
      `The server at ${played.server.url} refuses "min_p", "mirostat", "samplers"; its own values, if it has any, are in force.`,
    );
  },
);

test.each([
  [{ temperature: 1.5 }, 'temperature', 'temperature must be at most 1', '1.5'],
  [{ topP: 0.1 }, 'top_p', 'top_p must be at least 0.2', '0.1'],
  [{ topK: 500 }, 'top_k', 'Unknown parameter, or too large: top_k', '500'],
  [{ minP: 0.9 }, 'min_p', 'Unsupported parameter: min_p', '0.9'],
  [{ stop: ['\n'] }, 'stop', 'stop is not supported', '["\\n"]'],
])('a chosen value that a server refuses is never left out: %j', async (chosen, field, message, value) => {
  await using played = await play([status(400, { message })]);
  const error = await errorOf(played.model.generate(question, { ...sampling, ...chosen }));
  expect(error).toMatchObject({
    code: 'model/bad-request',
    message:
      `The server at ${played.server.url}, asked for the model "tiny", answers 400: ${message}. ` +
      `The sampling settings ask for "${field}": ${value}; choose a value that this server takes.`,
  });
  expect(played.server.requests).toHaveLength(1);
});
