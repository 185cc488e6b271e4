import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/fault';
import type { Generation } from '../../../src/core/model/model';
import { answer, raw, status, type Reply } from '../../fixtures/chat-server-replies';
import { errorOf, play, question, sampling } from './play';

/** Habits of servers, a row for each. */

const END = 'data: [DONE]\n\n';

const events = (...chunks: readonly object[]): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
const choice = (fields: object): object => ({ choices: [{ index: 0, ...fields }] });
const said = (content: unknown, more: object = {}): object => choice({ delta: { content, ...more } });
const finish = (reason: unknown): object => choice({ delta: {}, finish_reason: reason });

const stream = (...chunks: readonly object[]): Reply => sse(events(...chunks) + END);
const sse = (body: string): Reply => raw('text/event-stream', body);
const bare =
  (body: string): Reply =>
  (response) =>
    void response.end(body);
const body = (value: unknown, code = 200): Reply => raw('application/json', JSON.stringify(value), code);

const hi = [said('Hi'), said(' there')];
const HI = { text: 'Hi there', finishReason: 'stop' } as const;
const stop = finish('stop');
const whole = { choices: [{ message: { role: 'assistant', content: 'Hi there' }, finish_reason: 'stop' }] };

test.each<[string, Reply, Partial<Generation>]>([
  [
    'a first chunk of Azure',
    stream(
      { choices: [], model: '', prompt_filter_results: [] },
      { ...said('Hi there'), model: 'gpt-x' },
      stop,
    ),
    { ...HI, servedModel: 'gpt-x' },
  ],
  [
    'choices: null beside usage',
    stream(...hi, stop, { choices: null, usage: { prompt_tokens: 3, completion_tokens: 2 } }),
    { ...HI, usage: { promptTokens: 3, completionTokens: 2 } },
  ],
  [
    'usage without choices',
    stream(...hi, stop, { usage: { prompt_tokens: 3, completion_tokens: 2 } }),
    { ...HI, usage: { promptTokens: 3, completionTokens: 2 } },
  ],
  [
    'counts as fractions and text',
    stream(...hi, { ...stop, usage: { prompt_tokens: '3', completion_tokens: 2.0 } }),
    { ...HI, usage: { promptTokens: 3, completionTokens: 2 } },
  ],
  [
    'null in place of a count',
    stream(...hi, { ...stop, usage: { prompt_tokens: 3, completion_tokens: null, total_tokens: 5 } }),
    { ...HI, usage: { promptTokens: 3, completionTokens: 2 } },
  ],
  [
    'null in place of all counts',
    stream(...hi, { ...stop, usage: { prompt_tokens: null, completion_tokens: null } }),
    { ...HI, usage: undefined },
  ],
  ['usage that is none', stream(...hi, { ...stop, usage: 'five' }), { ...HI, usage: undefined }],
  [
    'no names of anything',
    stream(...hi.map((chunk) => ({ ...chunk, id: null, model: null, created: 'x' })), stop),
    { ...HI, servedModel: undefined },
  ],
  ['an index as text', stream({ choices: [{ index: '0', delta: { content: 'Hi there' } }] }, stop), HI],
  ['delta: null', stream(...hi, choice({ delta: null, finish_reason: 'stop' })), HI],
  ['no delta', stream(...hi, choice({ finish_reason: 'stop' })), HI],
  ['content: null', stream(...hi, said(null), stop), HI],
  ['events without choices', stream({ type: 'ping' }, ...hi, { status: 'processing' }, stop), HI],
  ['events that are null', sse(`data: null\n\n${events(...hi, stop)}${END}`), HI],
  [
    'the whole message at the end',
    stream(...hi, choice({ message: { content: 'Hi there' }, finish_reason: 'stop' })),
    HI,
  ],
  [
    'the last piece as message',
    stream(said('Hi'), choice({ message: { content: ' there' }, finish_reason: 'stop' })),
    HI,
  ],
  [
    'every piece as message',
    stream(choice({ message: { content: 'ha' } }), choice({ message: { content: 'ha' } }), stop),
    { text: 'haha', finishReason: 'stop' },
  ],
  [
    'content in parts',
    stream(
      said([{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }]),
      said([
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: {} },
        { type: 'tool_result', content: 'x', text: 'x' },
        null,
      ]),
      said([{ type: 'output_text', text: { value: ' there' } }]),
      stop,
    ),
    { ...HI, reasoning: 'Hm' },
  ],
  ['a part alone', stream(said({ type: 'text', text: 'Hi there' }), stop), HI],
  ['a refusal', stream(said(null, { refusal: 'Hi there' }), stop), HI],
  ...['reasoning_content', 'reasoning', 'thinking'].map(
    (field) =>
      [field, stream(said('', { [field]: 'Hm' }), ...hi, stop), { ...HI, reasoning: 'Hm' }] as [
        string,
        Reply,
        Partial<Generation>,
      ],
  ),
  [
    'thoughts that are repeated in details',
    stream(
      said('', { reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
      ...hi,
      stop,
    ),
    { ...HI, reasoning: 'Hm' },
  ],
  [
    'details of thoughts alone',
    stream(said('', { reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm' }] }), ...hi, stop),
    { ...HI, reasoning: 'Hm' },
  ],
  [
    'log-probabilities of the old form',
    stream(
      choice({ delta: { content: 'Hi there' }, logprobs: { tokens: ['Hi'], token_logprobs: [-1] } }),
      stop,
    ),
    { ...HI, tokens: undefined },
  ],
  [
    'log-probabilities of a part',
    stream(
      choice({ delta: { content: 'Hi' }, logprobs: { content: [{ token: 'Hi', logprob: -1 }] } }),
      choice({ delta: { content: ' there' }, logprobs: 'none' }),
      stop,
    ),
    { ...HI, tokens: undefined },
  ],
  [
    'log-probabilities that are no numbers',
    stream(
      choice({
        delta: { content: 'Hi there' },
        logprobs: { content: [{ token: 5, logprob: '-Infinity', bytes: 'Hi' }] },
      }),
      stop,
    ),
    { ...HI, tokens: undefined },
  ],
  [
    'token ids that are none',
    stream(choice({ delta: { content: 'Hi there' }, token_ids: ['a'] }), stop),
    { ...HI, tokens: undefined },
  ],
  [
    'comments',
    sse(`: keep-alive\n\n: OPENROUTER PROCESSING\n\n${events(...hi)}:\n\n${events(stop)}${END}`),
    HI,
  ],
  ['other fields of events', sse(`id: 1\nevent: message\nretry: 5\n${events(...hi, stop)}${END}`), HI],
  ['CRLF', sse((events(...hi, stop) + END).replaceAll('\n', '\r\n')), HI],
  ['CR', sse((events(...hi, stop) + END).replaceAll('\n', '\r')), HI],
  ['no space after data:', sse((events(...hi, stop) + END).replaceAll('data: ', 'data:')), HI],
  ['no empty line at the end', sse((events(...hi, stop) + END).trimEnd()), HI],
  ['no empty lines between', sse((events(...hi, stop) + END).replaceAll('\n\n', '\n')), HI],
  [
    'JSON over several lines',
    sse(`data: {"choices":\ndata: [{"delta":{"content":"Hi there"},"finish_reason":"stop"}]}\n\n${END}`),
    HI,
  ],
  ['a byte order mark', sse(`\ufeff${events(...hi, stop)}${END}`), HI],
  ['a stream as JSON', raw('application/json', events(...hi, stop) + END), HI],
  ['a stream as text', raw('text/plain', events(...hi, stop) + END), HI],
  ['a stream without a type', bare(events(...hi, stop) + END), HI],
  ['a whole answer', body(whole), HI],
  ['a whole answer as text', raw('text/plain', JSON.stringify(whole, null, 2)), HI],
  ['a whole answer without a type', bare(`\ufeff${JSON.stringify(whole)}\n`), HI],
  ['a whole answer as a stream', sse(JSON.stringify(whole)), HI],
  ['chunks in a list', body([...hi, stop]), HI],
  ['no [DONE]', sse(events(...hi, stop)), HI],
  ['a last event that is cut off', sse(`${events(...hi, stop)}data: {"usage":{"pro`), HI],
  ['an end in other words', sse(`${events(...hi, stop)}data: <|end|>\n\n`), HI],
  ['an error of nulls', stream({ ...said('Hi there'), error: { code: null, message: null } }, stop), HI],
  [
    'an empty finish reason in each chunk',
    stream(
      ...hi.map((chunk) => ({
        ...chunk,
        ...choice({ ...(chunk as { choices: object[] }).choices[0], finish_reason: '' }),
      })),
      stop,
    ),
    HI,
  ],
  ['the finish reason in an object', stream(...hi, finish({ type: 'stop', matched: 2 })), HI],
  ['no finish reason but [DONE]', stream(...hi), { ...HI, finishReason: 'other' }],
  ['an empty finish reason and [DONE]', stream(...hi, finish('')), { ...HI, finishReason: 'other' }],
  [
    'a whole answer without a finish reason',
    body({ choices: [{ message: { content: 'Hi there' } }] }),
    { ...HI, finishReason: 'other' },
  ],
  ...(
    [
      ['stop', 'stop'],
      ['eos', 'stop'],
      ['eos_token', 'stop'],
      ['end_turn', 'stop'],
      ['stop_sequence', 'stop'],
      ['STOP', 'stop'],
      ['FINISH_REASON_STOP', 'stop'],
      ['length', 'length'],
      ['max_tokens', 'length'],
      ['MAX_TOKENS', 'length'],
      ['model_length', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['tool_calls', 'other'],
      ['function_call', 'other'],
    ] as const
  ).map(
    ([reason, finishReason]) =>
      [`the finish reason ${reason}`, stream(...hi, finish(reason)), { ...HI, finishReason }] as [
        string,
        Reply,
        Partial<Generation>,
      ],
  ),
])('a message is read in spite of %s', async (_, reply, expected) => {
  await using played = await play([reply], { retry: { attempts: 1 } });
  const { timing, serverSampling, ...message } = await played.model.generate(question, sampling);
  expect(timing.attempts).toBe(1);
  expect(serverSampling).toBeDefined();
  expect(message).toEqual(expected);
});

test.each<[string, (body: string) => Reply]>([
  ['breaks', (text) => (response) => void response.write(text, () => response.socket?.destroySoon())],
  ['is left open', (text) => (response) => void response.writeHead(200).write(text)],
])('a message with its finish reason is whole, even if the connection %s', async (_, reply) => {
  const limits = { betweenTokensMs: 300 };
  await using played = await play([reply(events(...hi, stop))], { retry: { attempts: 1 }, limits });
  expect(await played.model.generate(question, sampling)).toMatchObject(HI);
});

test.each<[string, Reply]>([
  ...[
    'error',
    'abort',
    'cancelled',
    'network_error',
    'insufficient_system_resource',
    'UNSPECIFIED',
    'wibble',
  ].map((reason): [string, Reply] => [`the finish reason ${reason}`, stream(said('Half'), finish(reason))]),
  ['a finish reason that a later one contradicts', stream(said('Half'), finish('error'), stop)],
  ['a number as finish reason', stream(said('Half'), finish(5))],
  [
    'a whole answer that was aborted',
    body({ choices: [{ message: { content: 'Half' }, finish_reason: 'abort' }] }),
  ],
  ['an end without a finish reason', sse(events(said('Half')))],
  ['an end after an empty finish reason', sse(events(said('Half'), finish('')))],
  ['an end after thoughts', sse(events(said('', { reasoning: 'Hm' })))],
  ['an end after a greeting', sse(events({ choices: [] }))],
  ['JSON that is cut off', raw('application/json', JSON.stringify(whole).slice(0, 40))],
  ['an event that is cut off', sse(events(said('Half')) + events(stop).slice(0, 20))],
  [
    'an error in a choice',
    stream(
      said('Half'),
      choice({ delta: {}, finish_reason: 'error', error: { code: 502, message: 'Provider gone' } }),
    ),
  ],
  [
    'an event of the name error',
    sse(
      `${events(said('Half'))}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n`,
    ),
  ],
  ['no finish reason and an event that is no chunk', stream(said('Half'), { detail: 'Worker died' })],
  ['no finish reason and errors of another form', stream(said('Half'), { errors: [{ message: 'Died' }] })],
  ['an error beside empty choices', stream(said('Half'), { object: 'error', choices: [], message: 'Died' })],
  ['an error in a delta', stream(said('Half'), choice({ delta: { error: { message: 'Died' } } }))],
  ['a line that is no event', sse(`${events(said('Half'))}{"error":{"message":"Died"}}\n\n${END}`)],
  ['an error event without data', sse(`${events(said('Half'))}event: error\n\n${END}`)],
  ['nothing but [DONE]', sse(END)],
  ['nothing but comments', sse(': processing\n\n')],
  ['an error event without JSON', sse(`${events(said('Half'))}event: error\ndata: upstream timed out\n\n`)],
])('a message that is not finished, with %s, is asked for again', async (_, reply) => {
  await using played = await play([reply, answer('Whole.')]);
  expect((await played.model.generate(question, sampling)).text).toBe('Whole.');
  expect(played.server.requests).toHaveLength(2);
});

const error = (message: string, more: object = {}): object => ({ error: { message, ...more } });
const QUOTA = 'You exceeded your current quota, please check your plan and billing details.';

/** Errors that another attempt does not mend. */
const FINAL: readonly (readonly [string, Reply])[] = [
  ...(
    [
      [429, error(QUOTA, { type: 'insufficient_quota', code: 'insufficient_quota' })],
      [429, error('No more for you.', { type: 'insufficient_quota' })],
      [
        429,
        error('Your account is not active, please check your billing details.', {
          code: 'billing_not_active',
        }),
      ],
      [429, error('You have no credits left.')],
      [400, error('Your credit balance is too low to access the API.', { type: 'invalid_request_error' })],
      [402, { message: 'Payment required' }],
      [402, error('Prompt tokens limit exceeded: 5000 > 3000.')],
      [403, { code: 'x', error: 'Your team has used all available credits.' }],
      [500, { detail: 'Insufficient credits' }],
      [400, error('You have run out of credits.')],
      [400, error(QUOTA)],
      [500, error('Please top up your account.')],
      [412, error('Account suspended: monthly spending limit reached')],
      [429, error('余额不足或无可用资源包', { code: '1113' })],
      [200, error('Insufficient Balance')],
    ] as const
  ).map(([code, value]) => ['model/no-credit', body(value, code)] as const),
  [
    'model/no-credit',
    sse(
      events(said('Half'), error('Gone', { type: 'insufficient_quota', code: 'credit_balance_exhausted' })) +
        END,
    ),
  ],
  ...(
    [
      [400, { error: "This model's maximum context length is 2048 tokens." }],
      [413, { message: 'prompt is too long: 208310 tokens > 200000 maximum' }],
      [
        422,
        {
          error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000',
          error_type: 'validation',
        },
      ],
      [
        422,
        { detail: [{ loc: ['body', 'messages'], msg: 'Prompt exceeds max length', type: 'value_error' }] },
      ],
      [500, { error: 'the request exceeds the available context size, try increasing it' }],
      [500, error('litellm.ContextWindowExceededError: no')],
      [
        400,
        [
          error('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', {
            code: 400,
            status: 'INVALID_ARGUMENT',
          }),
        ],
      ],
      [
        400,
        error('Provider returned error', {
          code: 400,
          metadata: {
            raw: '{"error":{"message":"Input is too long. Please reduce the length of the messages."}}',
          },
        }),
      ],
      [
        400,
        error(
          "You passed 5000 input tokens. However, the model's context length is only 4096 tokens. Please reduce the length of the input prompt.",
        ),
      ],
      [400, error('too many tokens: total number of tokens in the prompt cannot exceed 4081')],
      [200, error('Sorry', { code: 'context_length_exceeded' })],
    ] as const
  ).map(([code, value]) => ['model/too-long', body(value, code)] as const),
  ...(
    [
      [
        400,
        error('The response was filtered due to our content management policy.', { code: 'content_filter' }),
      ],
      [403, error('This model requires moderation, and your input was flagged')],
    ] as const
  ).map(([code, value]) => ['model/filtered', body(value, code)] as const),
  ...['content_filter', 'SAFETY', 'sensitive', 'refusal'].map(
    (reason) => ['model/filtered', stream(said('Half'), finish(reason))] as const,
  ),
  ...(
    [
      [400, error('tiny is not a valid model ID', { code: 400 })],
      [400, error('Model Not Exist')],
      [404, { type: 'error', error: { type: 'not_found_error', message: 'model: tiny' } }],
      [404, [error('models/tiny is not found for API version v1main', { code: 404 })]],
      [404, error('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' })],
      [403, error('No access', { code: 'model_not_found' })],
    ] as const
  ).map(([code, value]) => ['model/unknown-model', body(value, code)] as const),
  ...(
    [
      [
        400,
        [
          error('API key not valid. Please pass a valid API key.', {
            code: 400,
            details: [{ reason: 'API_KEY_INVALID' }],
          }),
        ],
      ],
      [400, { code: 'x', error: 'Incorrect API key provided: sk-…' }],
      [200, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }],
    ] as const
  ).map(([code, value]) => ['model/unauthorized', body(value, code)] as const),
  [
    'model/bad-request',
    body(
      error('Request too large on tokens per minute (TPM): Limit 6000, Requested 9000', {
        code: 'rate_limit_exceeded',
      }),
      413,
    ),
  ],
  [
    'model/bad-request',
    body(
      {
        detail: [
          {
            loc: ['body', 'x'],
            msg: 'Field required',
            type: 'missing',
            input: 'billing, credit balance, prompt is too long',
          },
        ],
      },
      422,
    ),
  ],
  ['model/bad-request', body('no', 400)],
  ['model/bad-request', body(null, 400)],
];

test.each(FINAL)('%s is found in the words of an error and not tried again: %#', async (code, reply) => {
  await using played = await play([reply]);
  expect(await errorOf(played.model.generate(question, sampling))).toMatchObject({ code });
  expect(played.server.requests).toHaveLength(1);
});

test.each<[string, Reply]>([
  ['an hourly limit', status(429, { message: 'Rate limit reached for requests' })],
  [
    'a limit that names billing',
    body(error('Rate limit reached. Please try again in 1ms. Add a payment method: /account/billing'), 429),
  ],
  [
    'a quota of a minute',
    body([error(`${QUOTA}\nPlease retry in 0.001s.`, { code: 429, status: 'RESOURCE_EXHAUSTED' })], 429),
  ],
  [
    'a limit of tokens per minute',
    body(
      error("This request would exceed your organization's rate limit of 30,000 input tokens per minute."),
      429,
    ),
  ],
  ['a limit with status 200', body(error('Too many requests', { code: 'rate_limit_exceeded' }))],
  ['a limit with status 403', body({ message: 'API rate limit exceeded' }, 403)],
  ['an error that is a text', body('Busy', 503)],
  ['an error in another form', body({ object: 'error', message: 'engine died', code: 500 })],
  ['Retry-After in the past', status(503, {}, { 'retry-after': 'Fri, 20 Nov 2020 12:00:00 GMT' })],
  ['Retry-After without end', status(503, {}, { 'retry-after': '9'.repeat(400) })],
])('%s is tried again', async (_, reply) => {
  await using played = await play([reply, answer('Whole.')]);
  expect((await played.model.generate(question, sampling)).text).toBe('Whole.');
});

test('an error shows the words of the provider behind the server, and one that is empty is none', async () => {
  const raw = '{"error":{"message":"disk is full"}}';
  await using played = await play([body(error('Provider returned error', { metadata: { raw } }), 400)]);
  const fault = (await errorOf(played.model.generate(question, sampling))) as Fault;
  expect(fault.message).toContain('Provider returned error: disk is full');
  await using short = await play([body({ error: 'GONE' })]);
  expect(String(await errorOf(short.model.generate(question, sampling)))).toContain('an error: GONE (tried');
  await using other = await play([stream({ ...said('Hi'), error: {} }, { ...stop, error: null })]);
  expect((await other.model.generate(question, sampling)).text).toBe('Hi');
});

test.each([
  [finish('length'), 'spent all 64 tokens of a message on thoughts'],
  [stop, 'ended a message after its thoughts'],
])('a message of thoughts alone in a dialogue is noted with its cause: %#', async (end, note) => {
  const thoughts = stream(said(null, { reasoning_content: 'Hm' }), end);
  await using played = await play([thoughts]);
  await played.model.generate(question, sampling);
  expect(played.model.notes.join()).not.toContain(note);
  const position = { description: '', turn: 1 };
  expect(await played.model.generate(question, sampling, { position })).toMatchObject({ text: '' });
  expect(played.model.notes.join()).toContain(note);
});
