import type OpenAI from 'openai';
import {
  SAMPLING_ORDER,
  samplingEntries,
  samplingNumbers,
  type SamplingField,
  type TruncationField,
} from '../../samplingSettings';
import type { ChatMessage, PictureMessage, SamplingSettings, ServerSampling } from '../model';

const offValues = Object.fromEntries(
  samplingEntries.flatMap(([, { field, off, serverOff = off }]) =>
    serverOff === undefined ? [] : [[field, serverOff]],
  ),
) as Readonly<Record<TruncationField, number>>;

/**
 * Fields with which servers exclude tokens from sampling or change their probabilities, each with the value that
 * disables it. A server takes fields that are not sent from its own defaults: llama.cpp from its command line, vLLM and
 * SGLang from the model's `generation_config.json`.
 */
export const NEUTRAL = {
  ...offValues,
  typical_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  // This is the name in vLLM and SGLang; llama.cpp and LM Studio say `repeat_penalty`.
  repetition_penalty: 1,
  repeat_penalty: 1,
  mirostat: 0,
  dynatemp_range: 0,
  // llama.cpp applies the listed samplers in this order, and no others. By default its temperature follows its top-p.
  samplers: SAMPLING_ORDER,
} as const;

export type NeutralField = keyof typeof NEUTRAL;

export const NEUTRAL_FIELDS = Object.keys(NEUTRAL) as NeutralField[];

/** Lets a server continue the last message, which is the model's own. */
export const CONTINUING = { continue_final_message: true, add_generation_prompt: false } as const;

/** A server that knows both fields refuses this contradiction; others pass over them, or refuse them as unknown. */
export const CONTINUING_TEST = { continue_final_message: true, add_generation_prompt: true } as const;

export const continuesMessages = (status: number, answer: string): boolean =>
  isRefusal(status) &&
  !refusesParameter(answer) &&
  Object.keys(CONTINUING_TEST).every((field) => answer.includes(field));

/** Fields of a request that the `openai` package lacks or declares with other types. */
interface ServerFields extends Partial<Record<Exclude<NeutralField, 'samplers'>, number>> {
  samplers?: readonly string[];
  /** Deprecated by OpenAI, supported everywhere else. */
  seed?: number;
  /** vLLM: send `prompt_token_ids` in the first chunk and `choices[].token_ids` in each. */
  return_token_ids?: boolean;
  /** Older vLLM: write each token of the log-probabilities as `token_id:<id>`. */
  return_tokens_as_token_ids?: boolean;
  /** vLLM: the last message is the beginning of the answer. */
  continue_final_message?: boolean;
  add_generation_prompt?: boolean;
  /** llama.cpp: send the number of tokens so far in each chunk. */
  timings_per_token?: boolean;
}

export type RequestBody = Omit<OpenAI.ChatCompletionCreateParamsStreaming, keyof ServerFields> & ServerFields;

/** Fields that Tandem can omit or replace, and the loss if it has to. */
const dispensable = {
  logprobs: 'log-probabilities are not recorded',
  top_logprobs: 'the server chooses how many alternatives it lists',
  return_token_ids: 'token ids are recorded only if the log-probabilities carry them',
  return_tokens_as_token_ids: 'token ids are recorded only if the server gives them otherwise',
  timings_per_token: 'the tokens of an answer that is stopped early may not be counted',
  stream_options: 'token counts are missing where the server does not send them by itself',
  seed: 'its answers cannot be repeated',
  max_tokens: '"max_completion_tokens" is sent instead',
  max_completion_tokens: '"max_tokens" is sent instead',
} as const;

const DISPENSABLE = Object.keys(dispensable) as (keyof typeof dispensable)[];

type Dispensable = keyof typeof dispensable | NeutralField;

const TOKEN_LIMITS = ['max_tokens', 'max_completion_tokens'] as const;

/** Fields that the user chose; they are never omitted, because the log would then be wrong. */
const CHOSEN = [
  ...samplingEntries.flatMap(([name, { field }]) => (name === 'maxTokens' ? [] : [field])),
  'stop' as const,
];

/** For servers that refuse a negative number. */
const OTHER_TOP_K = samplingNumbers.topK.off;

interface DialectSettings {
  readonly model: string;
  readonly logprobs: boolean;
  readonly tokenIds: boolean;
  /**
   * OpenAI's newer models refuse `max_tokens`; most other servers know only that. The sampling of other servers is
   * disabled; OpenAI's has none, and refuses unknown fields.
   */
  readonly isOpenAi: boolean;
}

/** The form of requests that one server accepts. It learns from each refusal for all later requests. */
export class Dialect {
  readonly #refused = new Set<Dispensable>();
  #topKOff: number = NEUTRAL.top_k;

  constructor(private readonly settings: DialectSettings) {}

  /** @param mayStop true if the answer may be stopped before its end, which contains the token counts */
  request(
    messages: readonly (ChatMessage | PictureMessage)[],
    sampling: SamplingSettings,
    mayStop = false,
  ): RequestBody {
    const { stop = [], seed } = sampling;
    const body: RequestBody = {
      ...this.#neutralFields(),
      model: this.settings.model,
      messages: messages.map(sent),
      stream: true,
    };
    for (const [name, { field, off }] of samplingEntries) {
      const value = sampling[name];
      if (value !== undefined && value !== off) body[this.#nameOf(field)] = value;
    }
    if (stop.length > 0) body.stop = [...stop];
    if (seed !== undefined && this.#speaks('seed')) body.seed = seed;
    if (this.#speaks('stream_options')) body.stream_options = { include_usage: true };
    if (this.settings.logprobs && this.#speaks('logprobs')) this.#askForLogprobs(body);
    if (this.settings.tokenIds && this.#speaks('return_token_ids')) body.return_token_ids = true;
    if (mayStop && this.settings.tokenIds && this.#speaks('timings_per_token')) body.timings_per_token = true;
    return body;
  }

  /** Undefined if the server adds no sampling of its own. */
  samplingOf(body: RequestBody, { seed }: SamplingSettings): ServerSampling | undefined {
    const neutral = NEUTRAL_FIELDS.filter((field) => this.#isNeutral(field, body));
    const wanted: Dispensable[] = [
      ...(this.settings.isOpenAi ? [] : NEUTRAL_FIELDS),
      ...(seed === undefined ? [] : (['seed'] as const)),
    ];
    const refused = wanted.filter((field) => this.#refused.has(field) && !(field in body));
    if (refused.length > 0) return { neutral, refused };
    return neutral.length > 0 ? { neutral } : undefined;
  }

  /** Returns false if the refusal is about something other than omissible fields. */
  learn(status: number, answer: string, body: RequestBody): boolean {
    if (!isRefusal(status)) return false;
    // A neutral value can be omitted, whatever the reason for the refusal.
    const neutral = NEUTRAL_FIELDS.filter((field) => this.#isNeutral(field, body));
    const others = refusesParameter(answer) ? DISPENSABLE.filter((field) => field in body) : [];
    const learned = refusedIn(answer, [...others, ...neutral]).filter((field) => !this.#isSwappedBack(field));
    for (const field of learned)
      if (field === 'top_k' && this.#topKOff !== OTHER_TOP_K) this.#topKOff = OTHER_TOP_K;
      else this.#refused.add(field);
    return learned.length > 0;
  }

  refusedChoice(
    status: number,
    answer: string,
    body: RequestBody,
  ): { field: string; value: unknown } | undefined {
    if (!isRefusal(status)) return undefined;
    const neutral = new Set<string>(NEUTRAL_FIELDS.filter((field) => this.#isNeutral(field, body)));
    const chosen = CHOSEN.filter((field) => field in body && !neutral.has(field));
    const [field] = refusedIn(answer, chosen);
    return field && { field, value: body[field] };
  }

  /** Predicates that follow the server's name in a sentence. */
  get losses(): string[] {
    const refused = DISPENSABLE.filter((field) => this.#refused.has(field));
    const own = NEUTRAL_FIELDS.filter((field) => this.#refused.has(field)).map((field) => `"${field}"`);
    const losses = refused.map((field) => `refuses "${field}"; ${dispensable[field]}`);
    if (own.length > 0) losses.push(`refuses ${own.join(', ')}; its own values, if it has any, are in force`);
    return losses;
  }

  #neutralFields(): Pick<RequestBody, NeutralField> {
    if (this.settings.isOpenAi) return {};
    const sent = NEUTRAL_FIELDS.filter((field) => this.#speaks(field));
    return Object.fromEntries(
      sent.map((field) => [field, field === 'top_k' ? this.#topKOff : NEUTRAL[field]]),
    );
  }

  #isNeutral(field: NeutralField, body: RequestBody): boolean {
    return body[field] === NEUTRAL[field] || (field === 'top_k' && body.top_k === OTHER_TOP_K);
  }

  #askForLogprobs(body: RequestBody): void {
    body.logprobs = true;
    // By default llama.cpp lists 20 alternatives per token, several kilobytes each; with 0 it lists nothing.
    if (this.#speaks('top_logprobs')) body.top_logprobs = 1;
    if (this.settings.tokenIds && this.#speaks('return_tokens_as_token_ids'))
      body.return_tokens_as_token_ids = true;
  }

  #speaks(parameter: Dispensable): boolean {
    return !this.#refused.has(parameter);
  }

  #nameOf(field: SamplingField): SamplingField | 'max_completion_tokens' {
    if (field !== 'max_tokens') return field;
    const [usual, newer] = TOKEN_LIMITS;
    const [first, second] = this.settings.isOpenAi ? ([newer, usual] as const) : ([usual, newer] as const);
    return this.#speaks(first) ? first : second;
  }

  /** True if the server has already refused the other name of the token limit. */
  #isSwappedBack(parameter: Dispensable): boolean {
    const isLimit = TOKEN_LIMITS.some((name) => name === parameter);
    return isLimit && TOKEN_LIMITS.some((name) => this.#refused.has(name));
  }
}

function sent({ role, content }: ChatMessage | PictureMessage): OpenAI.ChatCompletionMessageParam {
  if (typeof content === 'string') return { role, content };
  return {
    role: 'user',
    content: content.map((part) => {
      if (part.type === 'text') return part;
      return {
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${part.png.toString('base64')}` },
      };
    }),
  };
}

/** Statuses that mean a refused parameter: bad request, OpenAI's "not allowed", validation, not implemented. */
export const isRefusal = (status: number): boolean => [400, 403, 422, 501].includes(status);

const REFUSAL_WORDS =
  /unsupported|not support|unused|unrecogni[sz]ed|unknown|unexpected|extra[_ ]|not permitted|not allowed|not available|not enabled|not implemented|invalid (parameter|argument|field)/i;

/** True if the parameter itself is refused, rather than its value. */
export const refusesParameter = (answer: string): boolean => REFUSAL_WORDS.test(answer);

/** Takes the first one that an answer names and those in the same list, because later ones may be the remedy. */
export function refusedIn<Name extends string>(answer: string, among: readonly Name[]): Name[] {
  const known = new Set<string>(among);
  const words: readonly string[] = answer.match(/\w+/g) ?? [];
  const first = words.findIndex((word) => known.has(word));
  if (first < 0) return [];
  // FastAPI names each in a `loc`, e.g. ["body", "seed"].
  const isLocated = words[first - 1] === 'body';
  const end = endOfList(words, first, known);
  const named = new Set(
    words.filter((_, index) => index >= first && (isLocated ? words[index - 1] === 'body' : index < end)),
  );
  return among.filter((name) => named.has(name));
}

/** The first index after the names that follow each other without other words between. */
function endOfList(words: readonly string[], first: number, known: ReadonlySet<string>): number {
  const after = words.findIndex((word, index) => index > first && word !== 'and' && !known.has(word));
  return after < 0 ? words.length : after;
}
