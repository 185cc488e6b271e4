import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Fault } from '../fault';
import type { LocalGeneration, LocalModel } from '../model/local/model';
import { sendJson } from '../serving/messages';
import { Completion, type ServedName } from './completion';
import type { ApiRefusal } from './refusal';
import type { ChatRequest } from './request';

export interface AnsweringModel extends ServedName {
  readonly model: LocalModel;
}

/**
 * Generates the answers to one request and writes them, whole or as they come. Stops the model when the client goes away.
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
  // Each answer of the request listens.
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

/** Sends an error. In a stream that has begun it is the last event, as the API's clients expect it. */
export function sendRefusal(response: ServerResponse, { status, body }: ApiRefusal): void {
  if (!response.headersSent) sendJson(response, status, body);
  else if (!response.destroyed) response.end(event(body));
}

/** The answers to one request as server-sent events. */
class AnswerStream {
  readonly #begun = new Set<number>();

  constructor(
    private readonly response: ServerResponse,
    private readonly completion: Completion,
  ) {}

  /**
   * Returns how one of the answers is followed.
   * @param fail ends the stream, because a part of the answer has been sent and cannot be written again
   */
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
  }

  end(last: object | undefined): void {
    if (last !== undefined) this.send(last);
    if (!this.response.destroyed) this.response.end('data: [DONE]\n\n');
  }
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
