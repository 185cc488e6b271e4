import { createServer, STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { Fault, messageOf } from '../fault';
import { refusalOf, type Access } from './access';
import type { EnvironmentPlan } from './episode';
import { answerHttp, LONGEST_REQUEST, send } from './http';
import { EnvironmentSession } from './session';

export interface ServerOptions extends Access {
  /** 0 is any free one. */
  readonly port: number;
  /** Maximum number of episodes at once. */
  readonly capacity: number;
  /** Time without a message after which a client's session is ended. */
  readonly idleMilliseconds: number;
  readonly plan: EnvironmentPlan;
  /** Called with a sentence when the end of an episode could not be logged. */
  readonly onTrouble: (sentence: string) => void;
}

const STOPPED = 'The server was stopped before the answer.';

/**
 * Serves tasks as OpenEnv 0.10 speaks: episodes over the WebSocket `/ws`, one for each connection at a time, and
 * questions about the environment by plain HTTP.
 */
export class EnvironmentServer {
  private readonly sessions = new Set<EnvironmentSession>();
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: LONGEST_REQUEST });
  private readonly stop = new AbortController();
  private readonly http: Server;
  /** Requests by plain HTTP that are being answered. */
  private readonly answering = new Set<Promise<void>>();
  private taken = 0;

  private constructor(private readonly options: ServerOptions) {
    this.http = createServer((request, response) => {
      const refusal = refusalOf(request, options);
      if (refusal !== undefined) {
        send(response, refusal.status, { detail: refusal.detail });
        return;
      }
      const { plan } = options;
      const enter = () => this.enter();
      const answered = answerHttp(request, response, { plan, enter, signal: this.stop.signal });
      this.answering.add(answered);
      void answered.finally(() => this.answering.delete(answered));
    });
    this.http.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
  }

  /** @throws {Fault} `environment/address` when it cannot listen there */
  static async start(options: ServerOptions): Promise<EnvironmentServer> {
    const server = new EnvironmentServer(options);
    const { http } = server;
    const { host, port } = options;
    await new Promise<void>((resolve, reject) => {
      http.once('error', (error) => {
        const message = `The environment cannot listen at ${host}, port ${port}: ${messageOf(error)}. Choose another --host or --port; port 0 is any free one.`;
        reject(new Fault('environment/address', message, { cause: error }));
      });
      http.listen(port, host, resolve);
    });
    return server;
  }

  get address(): string {
    const { address, family, port } = this.http.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Ends all episodes, each with its line in the log. Answers that are being graded get their grade before. */
  async close(): Promise<void> {
    this.stop.abort(new Fault('environment/over', STOPPED));
    const closed = new Promise((resolve) => this.http.close(resolve));
    await Promise.allSettled([
      ...[...this.sessions].map((session) => session.end(STOPPED)),
      ...this.answering,
    ]);
    for (const socket of this.sockets.clients) socket.terminate();
    this.http.closeAllConnections();
    await closed;
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const isThere = request.url?.split('?', 1)[0] === '/ws';
    const refusal = refusalOf(request, this.options);
    if (this.stop.signal.aborted || !isThere || refusal !== undefined) {
      refuse(socket, this.stop.signal.aborted ? 503 : (refusal?.status ?? 404));
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (client) => this.welcome(client, request));
  }

  private welcome(client: WebSocket, request: IncomingMessage): void {
    const session = new URLSearchParams(request.url?.split('?')[1]).get('session_id');
    if (session !== null) {
      turnAway(client, { code: 'SESSION_ERROR', message: `Unknown session_id: ${session.slice(0, 80)}` });
      return;
    }
    const leave = this.enter();
    if (leave === undefined) {
      const { capacity } = this.options;
      const message = `All ${capacity} episodes of this server are taken; try again later, or raise --capacity.`;
      turnAway(client, {
        code: 'CAPACITY_REACHED',
        message,
        active_sessions: this.taken,
        max_sessions: capacity,
      });
      return;
    }
    const { plan, idleMilliseconds, onTrouble } = this.options;
    const opened = new EnvironmentSession(client, plan, idleMilliseconds);
    this.sessions.add(opened);
    void opened.ended
      .catch((error: unknown) => onTrouble(messageOf(error)))
      .finally(() => {
        this.sessions.delete(opened);
        leave();
      });
  }

  private enter(): (() => void) | undefined {
    if (this.taken >= this.options.capacity) return undefined;
    this.taken++;
    return () => this.taken--;
  }
}

/** Answers an upgrade with a plain refusal. */
function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

function turnAway(client: WebSocket, data: object): void {
  client.on('error', () => undefined);
  client.send(JSON.stringify({ type: 'error', data }));
  client.close();
}
