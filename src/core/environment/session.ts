import type { RawData, WebSocket } from 'ws';
import * as z from 'zod';
import { Fault, messageOf } from '../fault';
import { beginEpisode, type EnvironmentPlan, type ServedEpisode } from './episode';
import { mcpResponse } from './mcp';
import {
  clientMessages,
  invalidFields,
  noEpisode,
  sentObservation,
  type ErrorCode,
  type EpisodeObservation,
} from './wire';
import { jsonOrUndefined } from '../json';

/** The code with which a WebSocket is closed when nothing is wrong. */
const NORMAL = 1000;

/** Number of unanswered messages from which on no more are read. A client needs one. */
const MOST_UNANSWERED = 8;

/** Every message names its type. Made once: to make a schema takes longer than to read most messages. */
const headSchema = z.object({ type: z.string().default('') });

/** A client at its WebSocket, with one episode at a time. Its messages are answered one after the other. */
export class EnvironmentSession {
  private episode: ServedEpisode | undefined;
  private answering: Promise<void> = Promise.resolve();
  private idle: NodeJS.Timeout | undefined;
  private unanswered = 0;
  /** True while the client has not read what was sent, so that it would not hear why its session ends. */
  private isUnread = false;
  private readonly stop = new AbortController();

  /** Resolves when the client has gone and the log knows how its episode ended. */
  readonly ended: Promise<void>;

  constructor(
    private readonly socket: WebSocket,
    private readonly plan: EnvironmentPlan,
    private readonly idleMilliseconds: number,
  ) {
    socket.on('message', (data, isBinary) => this.receive(data, isBinary));
    // The close that follows each error says all that is needed.
    socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => socket.on('close', resolve)).then(() =>
      this.leave('The client disconnected before the answer.'),
    );
    this.wait();
  }

  /** Ends the session from this side: the client is told why, and the log too. */
  async end(why: string): Promise<void> {
    const left = this.leave(why);
    if (this.isUnread) {
      this.socket.terminate();
    } else {
      void this.fail('SESSION_ERROR', why);
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

  private receive(data: RawData, isBinary: boolean): void {
    clearTimeout(this.idle);
    this.unanswered++;
    if (this.unanswered === MOST_UNANSWERED) this.socket.pause();
    this.answering = this.answering.then(async () => {
      clearTimeout(this.idle);
      if (!this.stop.signal.aborted) await this.answer(data, isBinary);
      this.unanswered--;
      if (this.unanswered > 0) return;
      this.socket.resume();
      this.wait();
    });
  }

  private wait(): void {
    clearTimeout(this.idle);
    if (this.stop.signal.aborted) return;
    const minutes = this.idleMilliseconds / 60_000;
    const why = `No message came for ${minutes} minutes, so the episode was ended.`;
    // Whoever waits for the end hears of an error.
    this.idle = setTimeout(() => void this.end(why).catch(() => undefined), this.idleMilliseconds);
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
      const next = beginEpisode(this.plan, data);
      await this.episode?.abandon('The client began another episode before the answer.');
      this.episode = next;
      await this.observe(next.opening);
    } else {
      const { data } = clientMessages.step.parse(message);
      if (this.episode === undefined) {
        throw new Fault('environment/no-episode', 'There is no episode yet; send reset first.');
      }
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
   * Resolves when the connection has taken the text, so that no more messages are answered than the client reads. One
   * that reads nothing for too long counts as one that says nothing.
   */
  private send(type: string, data: unknown): Promise<void> {
    // A client that has gone gets nothing more; its close ends the session.
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
