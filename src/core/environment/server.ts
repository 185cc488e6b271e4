import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket, type RawData } from 'ws';
import * as z from 'zod';
import { jsonOrUndefined } from '../json';
import { Fault, messageOf } from '../fault';
import { Listener, type ListenPlace } from '../serving/listener';
import { sendJson, RequestMemory } from '../serving/messages';
import { type EnvironmentPlan, type ServedEpisode, beginEpisode } from './episode';
import { answerHttp, MAX_REQUEST_BYTES, mcpResponse } from './http';
import {
  clientMessages,
  invalidFields,
  noEpisode,
  sentObservation,
  type ErrorCode,
  type EpisodeObservation,
} from './messages';

interface ServerOptions extends ListenPlace {
  readonly capacity: number;
  /** A client's session ends after so long without a message. */
  readonly idleMilliseconds: number;
  readonly plan: EnvironmentPlan;
  readonly memory?: RequestMemory;
  /** The end of an episode could not be logged. */
  readonly onTrouble: (sentence: string) => void;
}

const NO_MEMORY =
  'The messages of all clients together take the memory that this server may use; try again later.';
const STOPPED = 'The server was stopped before the answer.';

/**
 * Serves tasks by OpenEnv 0.10: episodes over the WebSocket `/ws`, one at a time for each connection, and questions
 * about the environment by plain HTTP.
 */
export class EnvironmentServer {
  private constructor(
    private readonly listener: Listener,
    private readonly clients: Clients,
  ) {}

  /** @throws {Fault} `serving/address` when it cannot listen there */
  static async start({
    memory = new RequestMemory(),
    ...options
  }: ServerOptions): Promise<EnvironmentServer> {
    const { plan } = options;
    const clients = new Clients({ ...options, memory });
    const enter = () => clients.enter();
    const listener = await Listener.open(options, {
      name: 'The environment',
      answer: (request, response, signal) => answerHttp(request, response, { plan, enter, signal, memory }),
      refuse: (response, { status, detail }) => sendJson(response, status, { detail }),
      upgrades: { path: '/ws', take: (...upgrade) => clients.take(...upgrade) },
    });
    return new EnvironmentServer(listener, clients);
  }

  get address(): string {
    return this.listener.address;
  }

  /** Logs the end of each open episode. Answers that are being graded get their grade before. */
  async close(): Promise<void> {
    const closed = this.listener.close(new Fault('environment/over', STOPPED));
    await this.clients.end();
    await closed;
  }
}

class Clients {
  private readonly sessions = new Set<EnvironmentSession>();
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_REQUEST_BYTES });
  /** Reads no more than a short message while it closes. */
  private readonly turningAway = new WebSocketServer({ noServer: true, maxPayload: 1024 });
  private taken = 0;

  constructor(private readonly options: ServerOptions & { readonly memory: RequestMemory }) {}

  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const sockets = this.taken < this.options.capacity ? this.sockets : this.turningAway;
    sockets.handleUpgrade(request, socket, head, (client) => this.welcome(client, request, socket));
  }

  /** Reserves capacity for one more episode; undefined when all is in use. */
  enter(): (() => void) | undefined {
    if (this.taken >= this.options.capacity) return undefined;
    this.taken++;
    return () => this.taken--;
  }

  async end(): Promise<void> {
    await Promise.allSettled([...this.sessions].map((session) => session.end(STOPPED)));
    for (const { clients } of [this.sockets, this.turningAway])
      for (const socket of clients) socket.terminate();
  }

  private welcome(client: WebSocket, request: IncomingMessage, connection: Duplex): void {
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
    const { plan, idleMilliseconds, memory, onTrouble } = this.options;
    const opened = new EnvironmentSession(client, connection, { plan, idleMilliseconds, memory });
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

/** WebSocket close code when nothing is wrong. */
const NORMAL = 1000;

/** For a client to read why its connection ends. */
const CLOSE_MS = 1000;

/** From this number of unanswered messages on, no more are read. A client needs one. */
const MAX_UNANSWERED = 8;

/** Made once: making a schema takes longer than reading most messages. */
const headSchema = z.object({ type: z.string().default('') });

/** A client with a WebSocket and one episode at a time. Its messages are answered one after the other. */
export class EnvironmentSession {
  private episode: ServedEpisode | undefined;
  private answering: Promise<void> = Promise.resolve();
  private idle: NodeJS.Timeout | undefined;
  private unanswered = 0;
  /** Bytes of a message that is not complete. */
  private arrived = 0;
  /** Characters of the messages that the client sent in the episode, at most the bytes in which they came. */
  private said = 0;
  /** All bytes of this client that are held: unread, unanswered, and of the episode. */
  private held = 0;
  /** The client has not read the last message, so it would not learn why its session ends. */
  private isUnread = false;
  private readonly stop = new AbortController();

  /** Resolves when the client has disconnected and the end of its episode is logged. */
  readonly ended: Promise<void>;

  /** @param connection the one of the socket, of which a message takes memory before it is complete */
  constructor(
    private readonly socket: WebSocket,
    connection: Duplex,
    private readonly options: Pick<ServerOptions, 'plan' | 'idleMilliseconds'> & {
      readonly memory: RequestMemory;
    },
  ) {
    // Before the socket's own listener, which may complete a message with the piece.
    connection.prependListener('data', (piece: Buffer) => this.arrive(piece.length));
    socket.on('message', (data, isBinary) => this.receive(data, isBinary));
    // The close that follows each error says all that is needed.
    socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => socket.on('close', resolve))
      .then(() => this.leave('The client disconnected before the answer.'))
      .finally(() => this.release(this.held));
    this.wait();
  }

  /** Ends the session from this side, with the reason for client and log. */
  async end(why: string, code: ErrorCode = 'SESSION_ERROR'): Promise<void> {
    const left = this.leave(why);
    if (this.isUnread) {
      this.socket.terminate();
    } else {
      void this.fail(code, why);
      this.socket.close(NORMAL);
    }
    await left;
  }

  private leave(why: string): Promise<void> {
    clearTimeout(this.idle);
    if (!this.stop.signal.aborted) {
      this.stop.abort(new Fault('environment/over', why));
      this.answering = this.answering.then(() => this.episode?.abandon(why));
    }
    return this.answering;
  }

  private arrive(bytes: number): void {
    if (this.stop.signal.aborted) return;
    if (this.options.memory.hold(bytes)) {
      this.held += bytes;
      this.arrived += bytes;
      return;
    }
    // `ended` reports the error.
    void this.end(NO_MEMORY, 'CAPACITY_REACHED').catch(() => undefined);
    // The rest of the message is not read, so the client's own close would not be heard.
    this.socket.pause();
    setTimeout(() => this.socket.terminate(), CLOSE_MS);
  }

  private release(bytes: number): void {
    const held = Math.min(bytes, this.held);
    this.options.memory.release(held);
    this.held -= held;
  }

  private receive(data: RawData, isBinary: boolean): void {
    clearTimeout(this.idle);
    const bytes = this.arrived;
    this.arrived = 0;
    this.unanswered++;
    if (this.unanswered === MAX_UNANSWERED) this.socket.pause();
    this.answering = this.answering.then(async () => {
      clearTimeout(this.idle);
      const said = this.said;
      if (!this.stop.signal.aborted) await this.answer(data, isBinary);
      this.release(bytes - (this.said - said));
      this.unanswered--;
      if (this.unanswered > 0) return;
      this.socket.resume();
      this.wait();
    });
  }

  private wait(): void {
    clearTimeout(this.idle);
    if (this.stop.signal.aborted) return;
    const minutes = this.options.idleMilliseconds / 60_000;
    const why = `No message came for ${minutes} minutes, so the episode was ended.`;
    // `ended` reports the error.
    this.idle = setTimeout(() => void this.end(why).catch(() => undefined), this.options.idleMilliseconds);
  }

  private async answer(data: RawData, isBinary: boolean): Promise<void> {
    const message = isBinary ? undefined : jsonOrUndefined((data as Buffer).toString('utf8'));
    if (message === undefined) {
      return this.fail('INVALID_JSON', 'Invalid JSON: send each message as one JSON object in a text frame.');
    }
    const head = headSchema.safeParse(message);
    if (!head.success) {
      return this.fail('VALIDATION_ERROR', 'Invalid message', { errors: invalidFields(head.error) });
    }
    const { type } = head.data;
    if (!isKnown(type)) {
      return this.fail('UNKNOWN_TYPE', `Unknown message type: ${type.slice(0, 80)}`);
    }
    try {
      await this.perform(type, message);
    } catch (error) {
      if (error instanceof z.ZodError) {
        await this.fail('VALIDATION_ERROR', 'Invalid message', { errors: invalidFields(error) });
      } else if (!this.stop.signal.aborted) {
        const code = error instanceof Fault ? { fault: error.code } : {};
        await this.fail('EXECUTION_ERROR', messageOf(error), code);
      }
    }
  }

  private async perform(type: keyof typeof clientMessages, message: unknown): Promise<void> {
    if (type === 'close') {
      clientMessages.close.parse(message);
      this.socket.close(NORMAL);
    } else if (type === 'state') {
      clientMessages.state.parse(message);
      await this.send('state', this.episode?.state ?? noEpisode);
    } else if (type === 'mcp') {
      await this.send('mcp', mcpResponse(clientMessages.mcp.parse(message).data));
    } else if (type === 'reset') {
      const { data } = clientMessages.reset.parse(message);
      const next = beginEpisode(this.options.plan, data);
      await this.episode?.abandon('The client began another episode before the answer.');
      this.episode = next;
      this.said = (data.history ?? []).reduce(
        (sum, { agent, reply }) => sum + agent.length + reply.length,
        0,
      );
      await this.observe(await next.open(this.stop.signal));
    } else {
      const { data } = clientMessages.step.parse(message);
      if (this.episode === undefined) {
        throw new Fault('environment/no-episode', 'There is no episode yet; send reset first.');
      }
      this.said += data.message.length;
      await this.observe(await this.episode.step(data, this.stop.signal));
    }
  }

  private observe(observation: EpisodeObservation): Promise<void> {
    return this.send('observation', sentObservation(observation));
  }

  private fail(code: ErrorCode, message: string, more: object = {}): Promise<void> {
    return this.send('error', { message, code, ...more });
  }

  /**
   * Resolves when the connection has taken the text, so that no more messages are answered than the client reads. A
   * client that reads nothing for too long counts as idle.
   */
  private send(type: string, data: unknown): Promise<void> {
    // The close of a disconnected client ends the session.
    if (this.socket.readyState !== this.socket.OPEN) return Promise.resolve();
    this.wait();
    this.isUnread = true;
    return new Promise((resolve) =>
      this.socket.send(JSON.stringify({ type, data }), () => {
        this.isUnread = false;
        resolve();
      }),
    );
  }
}

const isKnown = (type: string): type is keyof typeof clientMessages => Object.hasOwn(clientMessages, type);
