import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { isObject } from '../json';
import { NEUTRAL } from '../model/chat/dialect';
import type { ChatMessage, SamplingSettings } from '../model/model';
import { numberSchema, rangeWords, type NumberRange } from '../numberRange';
import {
  eachSamplingNumber,
  fromField,
  requestRange,
  samplingEntries,
  type SamplingField,
} from '../samplingSettings';
import { Fault, messageOf } from '../fault';
import { RefusedRequest } from '../serving/messages';

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly sampling: SamplingSettings;
  readonly n: number;
  readonly stream: boolean;
  /** A stream ends with the token counts. */
  readonly includeUsage: boolean;
  readonly logprobs: boolean;
  /** The most likely tokens to list with each sampled one. */
  readonly topLogprobs: number;
  /** Vocabulary ids of prompt and answer, in the fields of vLLM. */
  readonly tokenIds: boolean;
  /** Write each token of the log-probabilities as `token_id:<id>`, as vLLM does. */
  readonly tokensAsIds: boolean;
}

/** For requests that set no limit. */
const DEFAULT_MAX_TOKENS = 2048;

const MAX_ANSWERS = 128;
const MAX_ALTERNATIVES = 20;
const MAX_STOPS = 16;
const MAX_STOP_CHARS = 256;

const stopString = z.string().max(MAX_STOP_CHARS);
/** 0 and -1 are llama.cpp's words for no limit. */
const tokenLimit = z.int().min(-1).nullish();

type NumberField = Exclude<SamplingField, 'max_tokens'>;

/** Makes an object with a member for each field but the limit of tokens, which has two names. */
const eachNumberField = <Value>(make: (range: NumberRange) => Value) =>
  Object.fromEntries(
    samplingEntries.flatMap(([name, setting]) =>
      name === 'maxTokens' ? [] : [[setting.field, make(requestRange(setting))]],
    ),
  ) as Record<NumberField, Value>;

const fields = z.object({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
  ...eachNumberField((range) => numberSchema(range).nullish()),
  max_tokens: tokenLimit,
  max_completion_tokens: tokenLimit,
  stop: z.union([stopString, z.array(stopString.nullable()).max(MAX_STOPS)]).nullish(),
  seed: z.int().nullish(),
  n: z.int().min(1).max(MAX_ANSWERS).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({
      include_usage: z.boolean().nullish(),
      // Padding against listeners, and counts in every event, of vLLM: no server has to write them.
      include_obfuscation: z.boolean().nullish(),
      continuous_usage_stats: z.literal(false).nullish(),
    })
    .nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(MAX_ALTERNATIVES).nullish(),
  return_token_ids: z.boolean().nullish(),
  return_tokens_as_token_ids: z.boolean().nullish(),
});

type Fields = z.infer<typeof fields>;

/** For the sentence with which another value is refused. */
const expected: Readonly<Record<keyof Fields, string>> = {
  model: 'the name of a model, as GET /v1/models lists it',
  messages: 'a list of messages, at least one, each with a role',
  ...eachNumberField(rangeWords),
  max_tokens: 'a whole number, where 0 and -1 set no limit',
  max_completion_tokens: 'a whole number, where 0 and -1 set no limit',
  stop: `a string of at most ${MAX_STOP_CHARS} characters, or a list of at most ${MAX_STOPS}`,
  seed: 'a whole number',
  n: `a whole number from 1 to ${MAX_ANSWERS}`,
  stream: 'true or false',
  stream_options: 'an object with include_usage, true or false, and nothing else that changes an answer',
  logprobs: 'true or false',
  top_logprobs: `a whole number from 0 to ${MAX_ALTERNATIVES}`,
  return_token_ids: 'true or false',
  return_tokens_as_token_ids: 'true or false',
};

/** Ignored: they change nothing about an answer. */
const WITHOUT_EFFECT = new Set([
  ...['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'service_tier'],
  ...['parallel_tool_calls', 'timings_per_token', 'store', 'prompt_cache_retention'],
  ...['cache_prompt', 'id_slot', 'request_id', 'priority', 'keep_alive'],
]);

/** Features that this server lacks, with the values that do not request them. */
const ONLY: Readonly<Record<string, readonly unknown[]>> = {
  ...Object.fromEntries(Object.entries(NEUTRAL).map(([field, value]) => [field, [value]])),
  tools: [[]],
  tool_choice: ['none', 'auto'],
  functions: [[]],
  function_call: ['none', 'auto'],
  response_format: [{ type: 'text' }],
  modalities: [['text']],
  reasoning_effort: ['none'],
  logit_bias: [{}],
  // Of vLLM.
  best_of: [1],
  min_tokens: [0],
  length_penalty: [1],
  stop_token_ids: [[]],
  ignore_eos: [false],
  echo: [false],
  use_beam_search: [false],
  include_stop_str_in_output: [false],
  skip_special_tokens: [true],
  spaces_between_special_tokens: [true],
  add_generation_prompt: [true],
  continue_final_message: [false],
  chat_template_kwargs: [{}],
};

/**
 * Every field is obeyed or refused, except those that change nothing about an answer.
 * @throws {ApiRefusal} with one sentence that names the field
 */
export function readChatRequest(body: unknown): ChatRequest {
  const read = fields.safeParse(body);
  if (!read.success) {
    const field = read.error.issues[0]?.path[0];
    if (typeof field !== 'string' || !isKnown(field)) throw refused(null, 'The body must be a JSON object.');
    const missing = (body as Fields)[field] === undefined ? ', and the request has none' : '';
    throw refused(field, `"${field}" takes ${expected[field]}${missing}.`);
  }
  for (const [field, value] of Object.entries(body as object)) requireDoable(field, value);
  const { stop, seed, n, stream, stream_options, logprobs } = read.data;
  const topLogprobs = read.data.top_logprobs ?? 0;
  if (topLogprobs > 0 && logprobs !== true)
    throw refused('top_logprobs', '"top_logprobs" needs "logprobs": true.');
  return {
    model: read.data.model,
    messages: read.data.messages.map(readMessage),
    sampling: {
      ...eachSamplingNumber((_, setting) => fromField(read.data[setting.field] ?? setting.default, setting)),
      maxTokens: maxTokensOf(read.data),
      // An empty string, as forms of clients send it, would end no answer or every one.
      stop: [stop].flat().filter((string): string is string => string != null && string !== ''),
      // vLLM and llama.cpp draw a seed for -1.
      seed: seed == null || seed === -1 ? undefined : seed,
    },
    n: n ?? 1,
    stream: stream ?? false,
    includeUsage: stream_options?.include_usage ?? false,
    logprobs: logprobs ?? false,
    topLogprobs,
    tokenIds: read.data.return_token_ids ?? false,
    tokensAsIds: read.data.return_tokens_as_token_ids ?? false,
  };
}

const isKnown = (field: string): field is keyof Fields => Object.hasOwn(expected, field);

function requireDoable(field: string, value: unknown): void {
  if (value === null || isKnown(field) || WITHOUT_EFFECT.has(field)) return;
  const name = field.slice(0, 80);
  if (!Object.hasOwn(ONLY, field))
    throw refused(name, `"${name}" is not known to this server; leave it out.`, 'unknown_parameter');
  const values = ONLY[field]!;
  const said = isObject(value) ? withoutNulls(value) : value;
  if (values.some((one) => isDeepStrictEqual(one, said))) return;
  const allowed = values.map((one) => JSON.stringify(one)).join(' or ');
  throw refused(
    field,
    `This server does not do what "${field}" asks for; leave it out, or set it to ${allowed}.`,
    'unsupported_parameter',
  );
}

const withoutNulls = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));

function maxTokensOf({ max_tokens: older, max_completion_tokens: newer }: Fields): number {
  const [limit, ...others] = new Set([newer, older].filter((tokens) => tokens != null && tokens > 0));
  if (others.length > 0)
    throw refused('max_tokens', '"max_tokens" and "max_completion_tokens" differ; send one of them.');
  return limit ?? DEFAULT_MAX_TOKENS;
}

/** OpenAI's newer name for `system` is `developer`, which no chat template knows. */
const ROLES: Readonly<Record<string, ChatMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** Fields with which a message says more than its text. Others, such as `name` or `cache_control`, are ignored. */
const SAYING_MORE = ['tool_calls', 'function_call', 'tool_call_id', 'audio', 'images', 'prefix', 'prefill'];

/** With fields for other servers, such as `cache_control`. */
const textPart = z.union([
  z.string(),
  z
    .looseObject({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() })
    .transform(({ text }) => text),
]);

function readMessage(message: Fields['messages'][number], index: number): ChatMessage {
  const { role: named, content, ...others } = message;
  const place = `messages[${index}]`;
  if (!Object.hasOwn(ROLES, named))
    throw refused(
      `${place}.role`,
      `${place}.role takes system, developer, user or assistant, and no other role plays here.`,
    );
  for (const field of SAYING_MORE) {
    const value = others[field];
    if (value == null || value === false || isDeepStrictEqual(value, [])) continue;
    const name = `${place}.${field}`;
    throw refused(name, `${name} would not reach the model, which reads role and content; leave it out.`);
  }
  // Clients send back an answer without text as they received it.
  const text = named === 'assistant' && content == null ? '' : textOf(content, `${place}.content`);
  return { role: ROLES[named]!, content: text };
}

function textOf(content: unknown, place: string): string {
  if (typeof content === 'string') return content;
  const parts = z.array(z.unknown()).min(1).safeParse(content);
  if (!parts.success) throw refused(place, `${place} takes a text, or a list of parts of the type "text".`);
  const texts = parts.data.map((part, index) => {
    const read = textPart.safeParse(part);
    if (read.success) return read.data;
    const name = `${place}[${index}]`;
    throw refused(name, `${name} is no text; the model reads text alone, no pictures, sounds or files.`);
  });
  return texts.join('');
}

/** OpenAI's form of an error; `null` where the API has no code or parameter. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';

  constructor(
    readonly status: number,
    message: string,
    readonly code: string | null = null,
    readonly param: string | null = null,
    cause?: unknown,
  ) {
    super(message, { cause });
  }

  get body(): object {
    const { message, code, param, status } = this;
    const type = status >= 500 ? 'server_error' : 'invalid_request_error';
    return { error: { message, type, param, code } };
  }
}

export const refused = (param: string | null, message: string, code?: string): ApiRefusal =>
  new ApiRefusal(400, message, code, param);

/** @param contextLength maximum number of tokens of the model, in the words by which clients recognise that error */
export function refusalFor(error: unknown, contextLength: number): ApiRefusal {
  if (error instanceof ApiRefusal) return error;
  const message = messageOf(error);
  if (error instanceof RefusedRequest)
    return new ApiRefusal(error.status, message, error.status === 503 ? 'server_overloaded' : null);
  if (!(error instanceof Fault)) return new ApiRefusal(500, message, null, null, error);
  switch (error.code) {
    case 'model/too-long':
      return refused(
        'messages',
        `This model's maximum context length is ${contextLength} tokens. ${message}`,
        'context_length_exceeded',
      );
    case 'model/too-large':
      return refused('max_tokens', message);
    case 'model/bad-request':
      return refused('messages', message);
    case 'serving/stopped':
      return new ApiRefusal(503, message, error.code);
    default:
      return new ApiRefusal(500, message, error.code, null, error);
  }
}
