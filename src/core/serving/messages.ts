import type { IncomingMessage, ServerResponse } from 'node:http';
import { addAbortSignal } from 'node:stream';
import { getHeapStatistics } from 'node:v8';

/** A request that gets this HTTP status and no work. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Of a piece beside its bytes: a client may send each byte alone. */
const PIECE_BYTES = 128;

interface BodyLimits {
  readonly mostBytes: number;
  readonly signal: AbortSignal;
  /** Holds the body until its response is written. */
  readonly memory: RequestMemory;
}

/**
 * A signal that aborts ends the connection of a client that has not sent all of it.
 * @throws {RefusedRequest} 413 for more bytes than are read, 503 if all clients together hold too many
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { mostBytes, signal, memory }: BodyLimits,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let held = 0;
  let isRefused = false;
  const drop = (): void => {
    pieces.length = 0;
    memory.release(held);
    held = 0;
  };
  response.once('close', drop);
  for await (const piece of addAbortSignal(signal, request) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    const more = piece.length + PIECE_BYTES;
    isRefused ||= bytes <= mostBytes && !memory.hold(more);
    // A body that is refused is read to its end and dropped, because a client hears nothing before it has sent all.
    if (bytes > mostBytes || isRefused) drop();
    else {
      held += more;
      pieces.push(piece);
    }
  }
  if (bytes > mostBytes) throw new RefusedRequest(413, `A request has at most ${mostBytes} bytes.`);
  if (isRefused) throw new RefusedRequest(503, 'Too many large requests are open; send it again later.');
  return Buffer.concat(pieces);
}

/** A client that has disconnected gets nothing. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...((status === 429 || status === 503) && { 'retry-after': '1' }),
  });
  response.end(text);
}

/** What is made of a request takes a few times its bytes. */
const FRACTION_OF_HEAP = 1 / 4;

/** Bytes of requests that all clients of a server may have open, so that many large ones cannot end it. */
export class RequestMemory {
  #held = 0;

  constructor(private readonly most = Math.floor(getHeapStatistics().heap_size_limit * FRACTION_OF_HEAP)) {}

  /** False, and nothing is held, if not so many are left. */
  hold(bytes: number): boolean {
    if (this.#held + bytes > this.most) return false;
    this.#held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}
