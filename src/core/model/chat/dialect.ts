import type OpenAI from 'openai';
import type { ChatMessage, SamplingSettings } from '../model';

/** Fields of a request beyond those of the `openai` package. */
interface ServerFields {
  /** Deprecated at OpenAI, alive everywhere else. */
  seed?: number;
  /** vLLM: `prompt_token_ids` in the first chunk, `choices[].token_ids` in each. */
  return_token_ids?: boolean;
  /** Older vLLM: each token of the log-probabilities is written `token_id:<id>`. */
  return_tokens_as_token_ids?: boolean;
  /** llama.cpp: the number of tokens so far in each chunk. */
  timings_per_token?: boolean;
}

export type RequestBody = Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'seed'> & ServerFields;

/** What Tandem can do without, or say in another way, and what is lost when it has to. */
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

type Dispensable = keyof typeof dispensable;

/** Statuses with which servers refuse a parameter: bad request, OpenAI's "not allowed", validation, not implemented. */
const refusals = new Set([400, 403, 422, 501]);

const refusalWords =
  /unsupported|not support|unused|unrecogni[sz]ed|unknown|unexpected|extra[_ ]|not permitted|not allowed|not available|not enabled|not implemented|invalid (parameter|argument|field)/i;

export interface DialectSettings {
  readonly model: string;
  readonly logprobs: boolean;
  readonly tokenIds: boolean;
  /** OpenAI's newer models refuse `max_tokens`; most other servers know nothing else. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
}

/** How one server wants to be asked. It learns from refusals, once for all requests that follow. */
export class Dialect {
  readonly #settings: DialectSettings;
  readonly #refused = new Set<Dispensable>();

  constructor(settings: DialectSettings) {
    this.#settings = settings;
  }

  /** @param mayStop the answer may be stopped early, so that its end, which has the token counts, may not come */
  request(messages: readonly ChatMessage[], sampling: SamplingSettings, mayStop = false): RequestBody {
    const body: RequestBody = {
      model: this.#settings.model,
      messages: messages.map(({ role, content }) => ({ role, content })),
      stream: true,
      temperature: sampling.temperature,
      [this.#maxTokensField()]: sampling.maxTokens,
    };
    if (sampling.topP !== undefined) body.top_p = sampling.topP;
    if (sampling.stop !== undefined && sampling.stop.length > 0) body.stop = [...sampling.stop];
    if (sampling.seed !== undefined && this.#speaks('seed')) body.seed = sampling.seed;
    if (this.#speaks('stream_options')) body.stream_options = { include_usage: true };
    if (this.#settings.logprobs && this.#speaks('logprobs')) this.#askForLogprobs(body);
    if (this.#settings.tokenIds && this.#speaks('return_token_ids')) body.return_token_ids = true;
    if (mayStop && this.#settings.tokenIds && this.#speaks('timings_per_token'))
      body.timings_per_token = true;
    return body;
  }

  /**
   * When a server refuses a parameter that Tandem can do without, remembers that and says what is lost;
   * `undefined` when the refusal is about something else.
   */
  learn(status: number, answer: string, body: RequestBody): string | undefined {
    if (!refusals.has(status) || !refusalWords.test(answer)) return undefined;
    const parameter = firstNamed(answer, body);
    if (parameter === undefined) return undefined;
    const other = swapped(parameter);
    if (other !== undefined && this.#refused.has(other)) return undefined;
    this.#refused.add(parameter);
    return `refuses "${parameter}"; ${dispensable[parameter]}`;
  }

  #askForLogprobs(body: RequestBody): void {
    body.logprobs = true;
    // Without a number llama.cpp lists 20 alternatives to each token, several kilobytes a token; with 0 it lists nothing.
    if (this.#speaks('top_logprobs')) body.top_logprobs = 1;
    if (this.#settings.tokenIds && this.#speaks('return_tokens_as_token_ids'))
      body.return_tokens_as_token_ids = true;
  }

  #speaks(parameter: Dispensable): boolean {
    return !this.#refused.has(parameter);
  }

  #maxTokensField(): DialectSettings['maxTokensField'] {
    const field = this.#settings.maxTokensField;
    return this.#speaks(field) ? field : (swapped(field) ?? field);
  }
}

function swapped(parameter: Dispensable): DialectSettings['maxTokensField'] | undefined {
  if (parameter === 'max_tokens') return 'max_completion_tokens';
  if (parameter === 'max_completion_tokens') return 'max_tokens';
  return undefined;
}

/** The parameter of `body` that the answer names first: that is the one refused, later ones may be the remedy. */
function firstNamed(answer: string, body: RequestBody): Dispensable | undefined {
  const sent = (Object.keys(dispensable) as Dispensable[]).filter((parameter) => parameter in body);
  const words: readonly string[] = answer.match(/\w+/g) ?? [];
  const found = sent
    .map((parameter) => ({ parameter, at: words.indexOf(parameter) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  return found[0]?.parameter;
}
