import { APIError, type OpenAI } from 'openai';
import { Stream } from 'openai/streaming';
import { chunkSchema, type Chunk } from './answer';
import { isTooDeep } from '../../json';
import type { Deadline } from './deadline';
import {
  badAnswer,
  brokenOff,
  connectionReason,
  Failure,
  failureOf,
  quoted,
  type Addressee,
} from './failure';

/** Bytes after which a server that never stops sending is cut off. */
const mostBytes = 64 * 1024 * 1024;

/** Bytes kept from the end of a body, for error messages. */
const shownBytes = 400;

/** False for a whole answer from a server that ignores `stream: true`. */
export function isStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
}

/**
 * Ends early, without throwing, if the deadline's signal aborts.
 * @throws {Failure} if the connection breaks or a chunk is invalid
 */
export async function* streamedChunks(
  response: Response,
  client: OpenAI,
  deadline: Deadline,
  to: Addressee,
): AsyncGenerator<Chunk> {
  const tap = new Tap();
  const tapped = new Response(response.body?.pipeThrough(tap.stream), { headers: response.headers });
  const stream = Stream.fromSSEResponse<unknown>(tapped, deadline.controller, client);
  let chunks = 0;
  try {
    for await (const value of stream) {
      chunks += 1;
      yield understood(value, to);
    }
  } catch (error) {
    throw streamFailure(error, tap, to);
  }
  if (chunks === 0 && !deadline.signal.aborted)
    throw badAnswer(tap.bytes === 0 ? 'sent an empty answer' : `sent no answer but ${tap.shown(to)}`, to, {
      again: tap.bytes === 0,
    });
}

/** @throws {Failure} if it is not a chat completion */
export async function wholeAnswer(response: Response, to: Addressee): Promise<Chunk> {
  const tap = new Tap();
  let text: string;
  try {
    text = await new Response(response.body?.pipeThrough(tap.stream)).text();
  } catch (error) {
    throw streamFailure(error, tap, to);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const what = text.trim() === '' ? 'sent an empty answer' : `did not answer JSON but ${quoted(text, to)}`;
    throw badAnswer(what, to, { cause: error });
  }
  return understood(value, to);
}

function understood(value: unknown, to: Addressee): Chunk {
  if (isTooDeep(value)) throw nestedTooDeeply(to);
  if (typeof value === 'object' && value !== null && 'error' in value && value.error)
    throw failureOf(new APIError(undefined, Object(value.error), undefined, undefined), to);
  const chunk = chunkSchema.safeParse(value);
  if (chunk.success) return chunk.data;
  const issue = chunk.error.issues[0];
  const place = issue ? ` (${issue.path.join('.') || 'answer'}: ${issue.message})` : '';
  throw badAnswer(`sent JSON that is no chat completion${place}: ${quoted(JSON.stringify(value), to)}`, to);
}

const nestedTooDeeply = (to: Addressee, cause?: unknown): Failure =>
  badAnswer('sent JSON that is nested too deeply', to, { cause });

function streamFailure(error: unknown, tap: Tap, to: Addressee): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof APIError) return failureOf(error, to);
  if (error instanceof TooLong)
    return badAnswer(`sent more than ${mostBytes / 2 ** 20} MB`, to, { cause: error });
  // The package itself turns the server's error into a message, recursively.
  if (error instanceof RangeError) return nestedTooDeeply(to, error);
  // A proxy or a dying server can cut a stream in the middle of a line, so another attempt is worthwhile.
  if (error instanceof SyntaxError)
    return badAnswer(`sent a stream that cannot be read: …${tap.shown(to)}`, to, {
      again: true,
      cause: error,
    });
  return brokenOff(connectionReason(error), to, error);
}

class TooLong extends Error {
  override readonly name = 'TooLong';
}

/** Counts the bytes of a body and remembers its end, for error messages. */
class Tap {
  bytes = 0;
  #end = new Uint8Array();

  readonly stream = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (piece, controller) => {
      this.bytes += piece.length;
      if (this.bytes > mostBytes) throw new TooLong();
      this.#end =
        piece.length >= shownBytes
          ? piece.slice(-shownBytes)
          : new Uint8Array([...this.#end, ...piece]).slice(-shownBytes);
      controller.enqueue(piece);
    },
  });

  shown(to: Addressee): string {
    return quoted(new TextDecoder().decode(this.#end).trim().slice(-150), to);
  }
}
