import type { IncomingMessage, ServerResponse } from 'node:http';
import { addAbortSignal } from 'node:stream';

/** The body has more bytes than are read. */
export class TooLongRequest extends Error {
  override readonly name = 'TooLongRequest';

  constructor(mostBytes: number) {
    super(`A request has at most ${mostBytes} bytes.`);
  }
}

/**
 * A signal that aborts ends the connection of a client that has not sent all of it.
 * @throws {TooLongRequest}
 */
export async function readBody(
  request: IncomingMessage,
  { mostBytes, signal }: { readonly mostBytes: number; readonly signal: AbortSignal },
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of addAbortSignal(signal, request) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    // Too long a body is read to its end and dropped, because a client hears nothing before it has sent all.
    if (bytes > mostBytes) pieces.length = 0;
    else pieces.push(piece);
  }
  if (bytes > mostBytes) throw new TooLongRequest(mostBytes);
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
    ...(status === 429 && { 'retry-after': '1' }),
  });
  response.end(text);
}
