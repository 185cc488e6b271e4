import { setMaxListeners } from 'node:events';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIPv4 } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault, messageOf } from '../fault';
import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Queued connections, unless the system allows fewer. A trainer opens all of its episodes at once, and a busy system
 * resets connections that waited too long behind a full queue.
 */
const MAX_WAITING = 4096;

export interface ListenPlace extends Access {
  /** 0: any free port. */
  readonly port: number;
}

export interface Served {
  /** Begins sentences: `The environment`. */
  readonly name: string;
  /** Never rejects. The signal aborts when the server is stopped. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;
  /** Decides who may come in; `refusalOf` by default. */
  readonly refusalOf?: typeof refusalOf;
  /** Answers in the form that the server's clients read. */
  readonly refuse: (response: ServerResponse, refusal: Refusal) => void;
  /** Connections that become WebSockets, at one path. */
  readonly upgrades?: {
    readonly path: string;
    readonly take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  };
}

/** Listens at a place, lets in who may come in, and ends what is open. */
export class Listener {
  private readonly stop = new AbortController();
  private readonly http: Server;
  private readonly answering = new Set<Promise<void>>();

  private constructor(place: ListenPlace, served: Served) {
    // One listener for each open request.
    setMaxListeners(0, this.stop.signal);
    this.http = createServer((request, response) => {
      const refusal = (served.refusalOf ?? refusalOf)(request, place);
      if (refusal === undefined) this.answer(served.answer(request, response, this.stop.signal));
      else served.refuse(response, refusal);
    });
    const { upgrades } = served;
    if (upgrades === undefined) return;
    this.http.on('upgrade', (request, socket, head) => {
      const isThere = request.url?.split('?', 1)[0] === upgrades.path;
      const refusal = refusalOf(request, place);
      if (this.stop.signal.aborted) refuseUpgrade(socket, 503);
      else if (!isThere || refusal !== undefined) refuseUpgrade(socket, refusal?.status ?? 404);
      else upgrades.take(request, socket, head);
    });
  }

  /** @throws {Fault} `serving/address` when it cannot listen there */
  static async open(place: ListenPlace, served: Served): Promise<Listener> {
    const listener = new Listener(place, served);
    const { host, port } = place;
    await new Promise<void>((resolve, reject) => {
      listener.http.once('error', (error) => {
        const message = `${served.name} cannot listen at ${host}, port ${port}: ${messageOf(error)}. Choose another --host or --port; port 0 is any free one.`;
        reject(new Fault('serving/address', message, { cause: error }));
      });
      listener.http.listen({ port, host, backlog: MAX_WAITING }, resolve);
    });
    return listener;
  }

  get address(): string {
    const { address, family, port } = this.http.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /**
   * Refuses new requests, waits until open ones are answered, and closes their connections.
   * @param reason abort reason of their signal
   */
  async close(reason: Fault): Promise<void> {
    this.stop.abort(reason);
    const closed = new Promise((resolve) => this.http.close(resolve));
    await Promise.allSettled(this.answering);
    this.http.closeAllConnections();
    await closed;
  }

  private answer(answered: Promise<void>): void {
    this.answering.add(answered);
    void answered.finally(() => this.answering.delete(answered));
  }
}

function refuseUpgrade(socket: Duplex, status: number): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

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

export const bearerOf = (header = ''): string => (/^bearer /i.test(header) ? header.slice(7).trim() : '');

export const hostNameOf = (header = ''): string =>
  header.replace(/:\d{0,5}$/, '').replace(/^\[(.*)\]$/, '$1');

/** Takes the same time wherever the two differ, and whatever their lengths. */
export function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
