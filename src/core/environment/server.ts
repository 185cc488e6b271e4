import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { Fault, messageOf } from '../fault';
import { Listener, type ListenPlace } from '../serving/listener';
import { sendJson } from '../serving/messages';
import type { EnvironmentPlan } from './episode';
import { answerHttp, LONGEST_REQUEST } from './http';
import { EnvironmentSession } from './session';

interface ServerOptions extends ListenPlace {
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
  private constructor(
    private readonly listener: Listener,
    private readonly clients: Clients,
  ) {}

  /** @throws {Fault} `serving/address` when it cannot listen there */
  static async start(options: ServerOptions): Promise<EnvironmentServer> {
    const { plan } = options;
    const clients = new Clients(options);
    const enter = () => clients.enter();
    const listener = await Listener.open(options, {
      name: 'The environment',
      answer: (request, response, signal) => answerHttp(request, response, { plan, enter, signal }),
      refuse: (response, { status, detail }) => sendJson(response, status, { detail }),
      upgrades: { path: '/ws', take: (...upgrade) => clients.take(...upgrade) },
    });
    return new EnvironmentServer(listener, clients);
  }

  get address(): string {
    return this.listener.address;
  }

  /** Ends all episodes, each with its line in the log. Answers that are being graded get their grade before. */
  async close(): Promise<void> {
    const closed = this.listener.close(new Fault('environment/over', STOPPED));
    await this.clients.end();
    await closed;
  }
}

/** The clients at their WebSockets, and the places for episodes. */
class Clients {
  private readonly sessions = new Set<EnvironmentSession>();
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: LONGEST_REQUEST });
  private taken = 0;

  constructor(private readonly options: ServerOptions) {}

  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.sockets.handleUpgrade(request, socket, head, (client) => this.welcome(client, request));
  }

  /** Takes the place of one more episode; undefined when all are taken. */
  enter(): (() => void) | undefined {
    if (this.taken >= this.options.capacity) return undefined;
    this.taken++;
    return () => this.taken--;
  }

  async end(): Promise<void> {
    await Promise.allSettled([...this.sessions].map((session) => session.end(STOPPED)));
    for (const socket of this.sockets.clients) socket.terminate();
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
}

function turnAway(client: WebSocket, data: object): void {
  client.on('error', () => undefined);
  client.send(JSON.stringify({ type: 'error', data }));
  client.close();
}
