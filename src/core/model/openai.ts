import type { OpenAI } from 'openai';
import { Fault } from '../fault';
import { environmentBaseUrl, readAddress, type Address, environmentKey, keyRemedy } from './address';
import { ChatAnswer, type FinishedAnswer } from './chat/answer';
import { clientFor } from './chat/client';
import { Deadline, defaultLimits, type TimeLimits } from './chat/deadline';
import {
  CONTINUING,
  CONTINUING_TEST,
  continuesMessages,
  Dialect,
  isRefusal,
  type RequestBody,
} from './chat/dialect';
import {
  badAnswer,
  brokenOff,
  cancelled,
  closed,
  defaultRetry,
  Failure,
  failureOf,
  filtered,
  pause,
  throwIfStopped,
  tooLong,
  waitBefore,
  type Addressee,
  type RetrySettings,
} from './chat/failure';
import { ChatBody } from './chat/stream';
import {
  type ChatMessage,
  type GenerateOptions,
  type Generation,
  type ModelCounts,
  type PictureMessage,
  type SamplingSettings,
  type SeeingModel,
  MAX_REPLY_CHARS,
  NO_COUNTS,
} from './model';
import { sightOf, type Sight } from './vision';

export interface OpenAiOptions {
  readonly model: string;
  /** Defaults to `OPENAI_BASE_URL`, or else OpenAI's own. */
  readonly baseUrl?: string;
  /** Defaults to `OPENAI_API_KEY` for the server it belongs to, or else none. Empty: none. */
  readonly apiKey?: string;
  /** Default true. If the server refuses, requests continue without log-probabilities; see `notes`. */
  readonly logprobs?: boolean;
  /** Requested in the way of vLLM; default true, except for OpenAI's own server, which has none. */
  readonly tokenIds?: boolean;
  readonly limits?: Partial<TimeLimits>;
  readonly retry?: Partial<RetrySettings>;
}

/** True if the connection broke or stands still, or the rest of a stream cannot be read. */
const isLost = ({ code, details }: Failure): boolean =>
  code === 'model/unreachable' ||
  code === 'model/timed-out' ||
  (code === 'model/bad-answer' && details.again);

const BEGUN: readonly ChatMessage[] = [
  { role: 'user', content: 'Say yes.' },
  { role: 'assistant', content: 'y' },
];

/** By server and model, for as long as this process runs. */
const sights = new Map<string, Sight>();

/** Any server that speaks OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, transformers serve. */
export class OpenAiModel implements SeeingModel {
  readonly name: string;
  readonly server: string;

  readonly #client: OpenAI;
  readonly #to: Addressee;
  readonly #dialect: Dialect;
  readonly #isOpenAi: boolean;
  readonly #asksFor: { readonly logprobs: boolean; readonly tokenIds: boolean };
  readonly #limits: TimeLimits;
  readonly #retry: RetrySettings;
  readonly #notes = new Set<string>();
  #looking: Promise<Sight> | undefined;
  #continues: Promise<boolean> | undefined;
  readonly #counts = { ...NO_COUNTS };

  /** @throws {Fault} `model/bad-address` for an invalid base URL, `model/unauthorized` for OpenAI without a key */
  constructor(options: OpenAiOptions) {
    const address = addressFor(options.model, options.baseUrl ?? environmentBaseUrl());
    const key = options.apiKey ?? environmentKey(address.origin);
    this.#client = clientFor(address, key === '' ? undefined : key);
    this.server = address.baseUrl;
    // The usual origin, and regional ones.
    const isOpenAi = new URL(address.origin).hostname.endsWith('.openai.com');
    this.#isOpenAi = isOpenAi;
    if (isOpenAi && !key)
      throw new Fault(
        'model/unauthorized',
        `The model "${options.model}" at ${this.server} needs a key. ${keyRemedy(address.origin)}, or name your own server: openai:${options.model}@http://….`,
      );
    this.name = `openai:${options.model}${options.baseUrl === undefined ? '' : `@${options.baseUrl}`}`;
    this.#to = { server: this.server, model: options.model, key };
    this.#asksFor = { logprobs: options.logprobs ?? true, tokenIds: options.tokenIds ?? !isOpenAi };
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#retry = { ...defaultRetry, ...options.retry };
    this.#dialect = new Dialect({
      model: options.model,
      isOpenAi,
      ...this.#asksFor,
    });
  }

  get fingerprint(): string {
    // Dialogues of older Tandems, with the server's own sampling in force, count as another model's.
    return this.#isOpenAi ? this.server : `${this.server}, neutral sampling`;
  }

  get counts(): ModelCounts {
    return { ...this.#counts };
  }

  get notes(): readonly string[] {
    const losses = this.#dialect.losses.map((loss) => this.#sentence(loss));
    return [...losses, ...this.#notes];
  }

  async sees(signal?: AbortSignal): Promise<boolean> {
    const { sees, why } = await this.#look(signal);
    if (why !== undefined) this.#note(`${why}, so outlines of pages are sent to it in words`);
    return sees;
  }

  /** Asks the server once, by a request that it must refuse if it can continue a message, as vLLM can. */
  forcesOpening(signal?: AbortSignal): Promise<boolean> {
    this.#continues ??= this.#testContinuing(signal);
    return this.#continues;
  }

  /** Forces the first of `openings`. */
  async generate(
    messages: readonly (ChatMessage | PictureMessage)[],
    sampling: SamplingSettings,
    options: GenerateOptions = {},
  ): Promise<Generation> {
    const started = performance.now();
    let firstTextMs: number | undefined;
    const onText = (piece: string) => {
      firstTextMs ??= performance.now() - started;
      options.onText?.(piece);
    };
    const [opening = ''] = options.openings ?? [];
    let requests = 0;
    for (let attempt = 1; ;) {
      if (options.signal?.aborted) throw cancelled();
      const body = this.#request(messages, sampling, options);
      requests += 1;
      this.#counts.requests += 1;
      try {
        const { answer, streamed } = await this.#attempt(body, { ...options, onText });
        this.#count(answer);
        // Other requests than those of a dialogue may allow a few tokens only.
        if (options.position !== undefined) this.#noteEmpty(answer, sampling);
        return {
          ...answer,
          text: opening + answer.text,
          serverSampling: this.#dialect.samplingOf(body, sampling),
          timing: {
            firstTextMs: streamed ? firstTextMs : undefined,
            totalMs: performance.now() - started,
            attempts: requests,
          },
        };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (this.#learned(error, body)) continue;
        const waitMs = this.#waitAfter(error, attempt, requests, body);
        attempt += 1;
        firstTextMs = undefined;
        this.#counts.retries += 1;
        options.onRestart?.(
          `${error.message}; attempt ${attempt} of ${this.#retry.attempts} follows in ${(waitMs / 1000).toFixed(1)} s.`,
          { number: attempt, of: this.#retry.attempts, after: error.code },
        );
        await pause(waitMs, options.signal);
      }
    }
  }

  #request(
    messages: readonly (ChatMessage | PictureMessage)[],
    sampling: SamplingSettings,
    { openings: [opening] = [], enough }: GenerateOptions,
  ): RequestBody {
    if (opening === undefined) return this.#dialect.request(messages, sampling, enough !== undefined);
    const begun = [...messages, { role: 'assistant', content: opening } as const];
    return { ...this.#dialect.request(begun, sampling, enough !== undefined), ...CONTINUING };
  }

  async #testContinuing(signal: AbortSignal | undefined): Promise<boolean> {
    for (;;) {
      const test = this.#dialect.request(BEGUN, { temperature: 0, maxTokens: 1 });
      const body = { ...test, ...CONTINUING_TEST };
      try {
        await this.#attempt(body, { signal });
        return false;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (this.#learned(error, body)) continue;
        const { status = 0, words = '' } = error.details;
        if (isRefusal(status)) return continuesMessages(status, words);
        throw error.toFault(1);
      }
    }
  }

  async #look(signal: AbortSignal | undefined): Promise<Sight> {
    const { server, model } = this.#to;
    const key = JSON.stringify([server, model]);
    const known = sights.get(key);
    if (known !== undefined) return known;
    this.#looking ??= sightOf({
      client: this.#client,
      server,
      model,
      signal,
      generate: (messages, sampling) => this.generate(messages, sampling, { signal }),
    }).finally(() => (this.#looking = undefined));
    const sight = await this.#looking;
    sights.set(key, sight);
    return sight;
  }

  /** @throws {Failure} */
  async #attempt(
    request: RequestBody,
    { onText, enough, signal }: GenerateOptions,
  ): Promise<{ answer: FinishedAnswer; streamed: boolean }> {
    using deadline = new Deadline(this.#limits, signal);
    const answer = new ChatAnswer();
    try {
      const response = await this.#client.chat.completions
        .create(request, { signal: deadline.signal })
        .asResponse();
      const body = new ChatBody(response, deadline, this.#to);
      for await (const chunk of body.chunks()) {
        const { text, generating } = answer.add(chunk);
        if (answer.length > MAX_REPLY_CHARS) throw tooLong(this.#to);
        deadline.progress(generating);
        if (!generating) continue;
        if (text !== '') onText?.(text);
        // Leaving the stream ends the request, and the server stops writing.
        if (enough?.() === true && answer.ending === 'unknown')
          return { answer: answer.finish().answer, streamed: body.isStream };
      }
      throwIfStopped(deadline, this.#to);
      if (!answer.hasChoice && body.isStream)
        throw badAnswer('sent a stream without choices', this.#to, { again: true });
      return { answer: this.#finished(answer, body.isWhole && !body.hasForeign), streamed: body.isStream };
    } catch (error) {
      // Nothing of the message is missing if the stream breaks, stalls or cannot be read after its finish reason.
      const isEnded = ['stop', 'length', 'other'].includes(answer.ending);
      if (isEnded && error instanceof Failure && isLost(error))
        return { answer: this.#finished(answer, true), streamed: true };
      throwIfStopped(deadline, this.#to);
      const failure = failureOf(error, this.#to);
      throw failure.details.closedAfter === undefined
        ? failure
        : closed(answer.words, this.#to, failure.cause);
    }
  }

  /** @throws {Failure} if the message is not finished */
  #finished(answer: ChatAnswer, isWhole: boolean): FinishedAnswer {
    const { ending, reason = '' } = answer;
    if (ending === 'filtered') throw filtered(reason, this.#to);
    if (ending === 'unfinished') throw brokenOff(reason, this.#to);
    if (ending === 'unknown' && !isWhole) throw closed(answer.words, this.#to);
    if (!answer.hasChoice) throw badAnswer('sent an answer without choices', this.#to);
    const { answer: finished, droppedTokens, lacksEnd } = answer.finish();
    if (droppedTokens !== undefined) this.#note(`gives token data that does not add up: ${droppedTokens}`);
    else if (finished.text !== '') this.#noteMissing(finished);
    if (lacksEnd)
      this.#note('gives no log-probability of the token that ends a turn; those of the others are recorded');
    return finished;
  }

  #noteEmpty({ text, reasoning, finishReason }: FinishedAnswer, { maxTokens }: SamplingSettings): void {
    if (text.trim() !== '') return;
    if (finishReason === 'length')
      this.#note(
        `spent all ${maxTokens} tokens of a message on thoughts, so the message is empty; allow more tokens, or let the model think less`,
      );
    else this.#note(`ended a message ${reasoning === undefined ? 'without a word' : 'after its thoughts'}`);
  }

  #noteMissing({ tokens }: FinishedAnswer): void {
    if (this.#asksFor.logprobs && !tokens?.logprobs) this.#note('gives no log-probabilities');
    if (this.#asksFor.tokenIds && !tokens?.ids) this.#note('gives no token ids');
  }

  #note(what: string): void {
    this.#notes.add(this.#sentence(what));
  }

  #sentence(what: string): string {
    return `The server at ${this.server} ${what}.`;
  }

  #count({ usage, tokens }: FinishedAnswer): void {
    if (!usage) this.#counts.answersWithoutUsage += 1;
    this.#counts.promptTokens += usage?.promptTokens ?? 0;
    this.#counts.completionTokens +=
      usage?.completionTokens ?? (tokens?.ids ?? tokens?.logprobs ?? []).length;
  }

  /** True if the server only refused a parameter that the next request can omit. */
  #learned({ details: { status = 0, words = '' } }: Failure, body: RequestBody): boolean {
    return this.#dialect.learn(status, words, body);
  }

  /**
   * Milliseconds until the next attempt.
   * @throws {Fault} if no further attempt is made
   */
  #waitAfter(failure: Failure, attempt: number, requests: number, body: RequestBody): number {
    const { again, waitMs, status = 0, words = '' } = failure.details;
    if (!again || attempt >= this.#retry.attempts) {
      const chosen = this.#dialect.refusedChoice(status, words, body);
      const remedy =
        chosen &&
        `The sampling settings ask for "${chosen.field}": ${JSON.stringify(chosen.value)}; choose a value that this server takes`;
      throw failure.toFault(requests, { remedy });
    }
    const tooLate = failure.waitIsTooLong(this.#retry, requests);
    if (tooLate) throw tooLate;
    return waitBefore(attempt, this.#retry, waitMs);
  }
}

/** @throws {Fault} `model/bad-address` */
export function addressFor(model: string, baseUrl: string): Address {
  const address = readAddress(baseUrl);
  if (address === 'none')
    throw new Fault(
      'model/bad-address',
      `"${baseUrl}" is not the address of a server for the model "${model}". Write it like http://127.0.0.1:8000/v1.`,
    );
  if (address === 'has-user')
    throw new Fault(
      'model/bad-address',
      `The address of the server for the model "${model}" (${URL.parse(baseUrl)?.host ?? ''}) must not contain a name or password. ${keyRemedy(undefined)}.`,
    );
  return address;
}
