import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';

export interface Access {
  readonly host: string;
  /** Every request must bear it, except one for `/health`; on the machine's own address none is needed. */
  readonly token?: string;
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly detail: string;
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

/**
 * Without a token any program of this machine may come in, but no page of a browser: a page sends its origin, or a
 * host name of its own that leads to this machine.
 */
export function refusalOf({ headers, url }: IncomingMessage, { host, token }: Access): Refusal | undefined {
  if (token !== undefined) {
    if (url === '/health' || isSame(bearerOf(headers.authorization), token)) return undefined;
    return { status: 401, detail: 'Send the token of this server as Authorization: Bearer <token>.' };
  }
  if (headers.origin !== undefined) {
    return { status: 403, detail: 'Web pages may use this server only with a token.' };
  }
  const named = hostNameOf(headers.host);
  if (named === host || isLoopback(named)) return undefined;
  return { status: 403, detail: `This server is at ${host}; under another name it needs a token.` };
}

const bearerOf = (header = ''): string => (/^bearer /i.test(header) ? header.slice(7).trim() : '');

const hostNameOf = (header = ''): string => header.replace(/:\d{0,5}$/, '').replace(/^\[(.*)\]$/, '$1');

/** Takes the same time wherever the two differ, and whatever their lengths. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
