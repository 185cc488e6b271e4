import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { Fault } from '../fault';
import type { LocalGeneration, LocalModel } from '../model/local/model';
import { sendJson } from '../serving/messages';
import type { ChatRequest, ApiRefusal } from './request';
import type { TurnPiece, TurnTokens } from '../model/local/process';
import type { LikelyToken } from '../model/local/sampling';
import type { TokenText } from '../model/local/tokenTexts';
import type { Usage } from '../model/model';

export interface AnsweringModel extends ServedName {
  readonly model: LocalModel;
}

/**
 * Stops the model when the client disconnects.
 * @throws {Fault} when nothing more is written; a part of a stream may have been
 */
export async function writeAnswers(
  asked: ChatRequest,
  response: ServerResponse,
  { model, signal: stopped, ...served }: AnsweringModel & { readonly signal: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  const signal = AbortSignal.any([stopped, ended.signal]);
  setMaxListeners(0, signal);
  const completion = new Completion(asked, served);
  const stream = asked.stream ? new AnswerStream(response, completion) : undefined;
  const { messages, sampling, topLogprobs: alternatives } = asked;
  const generate = async (index: number): Promise<LocalGeneration> => {
    const seed = sampling.seed === undefined ? undefined : sampling.seed + index;
    const options = { signal, alternatives, ...stream?.choice(index, (fault) => ended.abort(fault)) };
    const generation = await model.generate(messages, { ...sampling, seed }, options);
    stream?.send(completion.end(index, generation));
    return generation;
  };
  try {
    const generations = await Promise.all(Array.from({ length: asked.n }, (_, index) => generate(index)));
    if (stream === undefined) sendJson(response, 200, completion.whole(generations));
    else stream.end(asked.includeUsage ? completion.usage(generations) : undefined);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    ended.abort();
    throw error;
  }
}

/** Last event of a stream that has begun, as the API's clients expect it. */
export function sendRefusal(response: ServerResponse, { status, body }: ApiRefusal): void {
  if (!response.headersSent) sendJson(response, status, body);
  else if (!response.destroyed) response.end(event(body));
}

const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

class AnswerStream {
  readonly #begun = new Set<number>();

  constructor(
    private readonly response: ServerResponse,
    private readonly completion: Completion,
  ) {}

  /** @param fail ends the stream, because a part of the answer has been sent and cannot be written again */
  choice(index: number, fail: (fault: Fault) => void): Parameters<LocalModel['generate']>[2] {
    return {
      onBegin: (promptIds) => {
        this.#begun.add(index);
        this.send(this.completion.begin(index, promptIds));
      },
      onPiece: (piece) => {
        const chunk = this.completion.piece(index, piece);
        if (chunk !== undefined) this.send(chunk);
      },
      onRestart: (why) => {
        if (this.#begun.has(index))
          fail(new Fault('model/inference-ended', `${why} Send the request again.`));
      },
    };
  }

  send(chunk: object): void {
    const { response } = this;
    if (response.destroyed) return;
    if (!response.headersSent) {
      const head = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
      response.writeHead(200, head);
    }
    response.write(event(chunk));
    // A client that does not read would let the answer grow here.
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  }

  end(last: object | undefined): void {
    if (last !== undefined) this.send(last);
    if (!this.response.destroyed) this.response.end('data: [DONE]\n\n');
  }
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

interface ServedName {
  readonly id: string;
  /** Identifies the weights. */
  readonly fingerprint: string;
  readonly textOf: (id: number) => TokenText;
}

class Completion {
  readonly #head: object;

  constructor(
    private readonly request: ChatRequest,
    private readonly model: ServedName,
  ) {
    const created = Math.floor(Date.now() / 1000);
    const { id, fingerprint } = model;
    this.#head = { id: `chatcmpl-${randomUUID()}`, created, model: id, system_fingerprint: fingerprint };
  }

  whole(generations: readonly LocalGeneration[]): object {
    return {
      ...this.#headOf('chat.completion'),
      choices: generations.map(({ text, tokens, finishReason }, index) => ({
        index,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: this.#logprobs(tokens),
        finish_reason: finishReason,
        ...this.#ids(tokens),
      })),
      usage: usageOf(generations),
      ...this.#promptIds(generations[0]!.promptTokenIds),
    };
  }

  begin(index: number, promptIds: readonly number[]): object {
    const delta = { role: 'assistant', content: '', refusal: null };
    return { ...this.#chunk({ index, delta }), ...this.#promptIds(promptIds) };
  }

  /** None for tokens without text when only the text is requested. */
  piece(index: number, { piece, ...tokens }: TurnPiece): object | undefined {
    const { logprobs, tokenIds } = this.request;
    if (piece === '' && !logprobs && !tokenIds) return undefined;
    return this.#chunk({ index, delta: { content: piece }, tokens });
  }

  end(index: number, { finishReason }: LocalGeneration): object {
    return this.#chunk({ index, delta: {}, finishReason });
  }

  usage(generations: readonly LocalGeneration[]): object {
    return { ...this.#headOf('chat.completion.chunk'), choices: [], usage: usageOf(generations) };
  }

  #chunk(choice: {
    readonly index: number;
    readonly delta: object;
    readonly tokens?: TurnTokens;
    readonly finishReason?: string;
  }): object {
    const { index, delta, tokens, finishReason = null } = choice;
    return {
      ...this.#headOf('chat.completion.chunk'),
      choices: [
        {
          index,
          delta,
          logprobs: tokens === undefined ? null : this.#logprobs(tokens),
          finish_reason: finishReason,
          ...(tokens && this.#ids(tokens)),
        },
      ],
      ...(this.request.includeUsage && { usage: null }),
    };
  }

  #headOf(object: string): object {
    return { ...this.#head, object };
  }

  #promptIds(ids: readonly number[]): object {
    return this.request.tokenIds ? { prompt_token_ids: ids } : {};
  }

  #ids({ ids }: TurnTokens): object {
    return this.request.tokenIds ? { token_ids: ids } : {};
  }

  #logprobs({ ids, logprobs, alternatives }: TurnTokens): object | null {
    if (!this.request.logprobs) return null;
    const content = ids.map((id, at) => ({
      ...this.#entry({ id, logprob: logprobs[at]! }),
      top_logprobs: (alternatives?.[at] ?? []).map((token) => this.#entry(token)),
    }));
    return { content, refusal: null };
  }

  #entry({ id, logprob }: LikelyToken): object {
    const { text, bytes } = this.model.textOf(id);
    return {
      token: this.request.tokensAsIds ? `token_id:${id}` : text,
      // A token that a graph rules out has minus infinity, which JSON cannot hold; OpenAI writes this in its place.
      logprob: Math.max(logprob, -9999),
      bytes,
    };
  }
}

/** The prompt that the answers share counts once. */
function usageOf(generations: readonly { readonly usage: Usage }[]): object {
  const prompt = generations[0]!.usage.promptTokens;
  const completion = generations.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
