import { OpenAiModel, type OpenAiOptions } from '../../../src/core/model/openai';
import type { ChatMessage, SamplingSettings } from '../../../src/core/model/model';
import { startChatServer, type ChatRequest, type ChatServer } from '../../fixtures/chat-server';
import type { Reply } from '../../fixtures/chat-server-replies';

export const question: readonly ChatMessage[] = [
  { role: 'system', content: 'Ask before you write code.' },
  { role: 'user', content: 'Write a function that rounds prices.' },
];

export const sampling: SamplingSettings = { temperature: 0.7, maxTokens: 64 };

/** Very short waits, so that tests of retries are fast. */
export const quickRetry = { attempts: 3, firstWaitMs: 1, longestWaitMs: 2, longestServerWaitMs: 60_000 };

export interface Played extends AsyncDisposable {
  readonly server: ChatServer;
  readonly model: OpenAiModel;
}

/**
 * A chat server and a model that talks to it.
 * @param replies one after the other, the last one from then on; or a function
 */
export async function play(
  replies: readonly Reply[] | ((request: ChatRequest) => Reply),
  options: Partial<OpenAiOptions> & { serverKey?: string } = {},
): Promise<Played> {
  const { serverKey, ...settings } = options;
  const reply =
    typeof replies === 'function'
      ? replies
      : ({ index }: ChatRequest) => replies[Math.min(index, replies.length - 1)]!;
  const server = await startChatServer({ reply, ...(serverKey !== undefined && { key: serverKey }) });
  const model = new OpenAiModel({
    model: 'tiny',
    baseUrl: server.url,
    apiKey: '',
    retry: quickRetry,
    ...settings,
  });
  return { server, model, [Symbol.asyncDispose]: () => server.close() };
}

/** Returns the error of a rejected promise. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
