import { randomBytes, randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isProgram, type Task } from '../../task/task';
import { Fault, messageOf } from '../../fault';
import { LOG_VERSION, type EventKind, type EventOf, type LogEvent, type NewEvent } from '../event';
import { makeFolder, syncFolder } from '../files';
import { keepPicture } from '../pictures';
import { encodeEvent, MAX_SEAL_BYTES, sealLine, isFuture } from './line';
import type { SignOfLife } from '../heartbeat';
import { own, ownerFileOf } from '../claim';
import { MAX_LINE_BYTES } from './reader';
import { SEGMENT_EXTENSION, type NumberRange } from './files';

export interface AppendOptions {
  /** The events are on the disk when the append resolves. */
  readonly durable?: boolean;
  /** PNGs that the events name by their SHA-256; they are on the disk before the events are written. */
  readonly pictures?: readonly Buffer[];
}

interface Append {
  readonly lines: readonly Buffer[];
  /** Tasks that must be in the segment before these lines. */
  readonly tasks: readonly Task[];
  readonly episodes: readonly string[];
  readonly pictures: readonly Buffer[];
  readonly durable: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface OpenSegment {
  readonly name: string;
  readonly file: string;
  readonly handle: FileHandle;
  readonly owner: SignOfLife;
  /** Its first line, which is written with the first events. */
  readonly header: Buffer;
  size: number;
  lines: number;
  readonly tasks: Map<string, Task>;
}

/**
 * The half of a log that writes: this process's own segments, append-only, one writer, no line split by another.
 * Appends during a write or a sync are written together in the next one, so that many durable appends share one sync.
 */
export abstract class LogWriter {
  private pending: Append[] = [];
  private segment: OpenSegment | undefined;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  /** Time in the name of the newest segment, in milliseconds since 1970. */
  private lastBegan = 0;
  private readonly recorded = new Map<string, Task>();
  /** Time of the newest known event, in milliseconds since 1970. */
  private lastTime = 0;
  protected isClosed = false;

  /**
   * @param logFolder folder of the segments
   * @param segmentBytes size in bytes at which a segment is closed and a new one begun
   */
  protected constructor(
    protected readonly logFolder: string,
    private readonly segmentBytes: number,
  ) {}

  /** Called after lines were written (and synced, if requested) and before their appends resolve. */
  protected abstract onWritten(segment: string): Promise<void>;

  /**
   * Called before a segment is begun; throws if none may be begun now. Returns the contents of segments without check
   * sums, for its first line.
   */
  protected abstract beforeSegment(): Promise<EventOf<'segment'>['older']>;

  /** As of the beginning of the segment: while one is open, no other process erases. */
  abstract isErased(episode: string): boolean;

  /**
   * Registers a task, which the log then writes into each segment before the first episode that plays it. It resolves
   * at once; the task becomes durable together with the episode's start.
   */
  recordTask(task: Task): Promise<void> {
    const known = this.recorded.get(task.id);
    if (!known || !isDeepStrictEqual(known, task)) this.recorded.set(task.id, task);
    return Promise.resolve();
  }

  /**
   * Appends one event and returns it as written. With `durable` it is on disk when this resolves.
   * @throws {Fault} `trajectory/task-not-recorded`, `trajectory/too-long`, `trajectory/not-written`,
   * `trajectory/log-in-use` while a developer's data are being erased, `trajectory/unknown` if the episode was erased,
   * `trajectory/closed`
   */
  async append<E extends NewEvent>(event: E, options: AppendOptions = {}): Promise<EventOf<E['event']>> {
    const [appended] = await this.appendAll([event], options);
    return appended as EventOf<E['event'] & EventKind>;
  }

  /** Next to each other; throws as `append` does. */
  async appendAll(events: readonly NewEvent[], options: AppendOptions = {}): Promise<LogEvent[]> {
    if (this.isClosed) throw closed();
    const tasks = events.flatMap((event) => (event.event === 'episode-started' ? this.taskOf(event) : []));
    const at = this.now();
    const stamped = events.map((event) => ({ version: LOG_VERSION, at, ...event }));
    const lines = stamped.map((event) => encodeEvent(event));
    const limit = MAX_LINE_BYTES - MAX_SEAL_BYTES;
    const long = lines.find((line) => line.length > limit);
    if (long) {
      const message = `An event of ${long.length} bytes is not logged: the limit is ${limit} bytes.`;
      throw new Fault('trajectory/too-long', message);
    }
    const episodes = events.flatMap((event) => ('episode' in event ? [event.episode] : []));
    await this.enqueue(lines, tasks, options, episodes);
    return stamped;
  }

  /** A segment that was closed meanwhile has been synced. */
  async sync(): Promise<void> {
    if (this.segment || this.isRunning) await this.enqueue([], [], { durable: true });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    while (this.isRunning) await this.running;
    await this.closeSegment();
  }

  /**
   * Makes later events newer than this time, whatever this machine's clock says: an episode that continues in another
   * segment is put in order by time.
   * @param time in milliseconds since 1970
   */
  protected continueAfter(time: number): void {
    if (!isFuture(time)) this.lastTime = Math.max(this.lastTime, time + 1);
  }

  /** Runs `work` while no segment is open; appends during it are written afterwards. */
  protected async paused<T>(work: () => Promise<T>): Promise<T> {
    while (this.isRunning) await this.running;
    this.isRunning = true;
    const result = this.closeSegment().then(work);
    this.running = result.then(
      () => this.drain(),
      () => this.drain(),
    );
    return result;
  }

  private enqueue(
    lines: readonly Buffer[],
    tasks: readonly Task[],
    { durable = false, pictures = [] }: AppendOptions,
    episodes: readonly string[] = [],
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      this.pending.push({ lines, tasks, durable, pictures, episodes, resolve, reject });
      if (this.isRunning) return;
      this.isRunning = true;
      this.running = this.drain();
    });
  }

  private taskOf(event: { readonly episode: string; readonly task: string }): Task {
    const task = this.recorded.get(event.task);
    if (task) return task;
    const message = `Episode ${event.episode} plays task ${event.task}, which was not recorded before.`;
    throw new Fault('trajectory/task-not-recorded', message);
  }

  /** Never goes backwards, so that events of one process are ordered by time. */
  private now(): string {
    this.lastTime = Math.max(this.lastTime, Date.now());
    return new Date(this.lastTime).toISOString();
  }

  private async drain(): Promise<void> {
    // Waits one microtask, so that appends made together are written together.
    await Promise.resolve();
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      try {
        await this.write(batch);
        batch.forEach(({ resolve }) => resolve());
      } catch (error) {
        const fault = writeFault(this.logFolder, error);
        batch.forEach(({ reject }) => reject(fault));
      }
    }
    this.isRunning = false;
  }

  private async write(all: readonly Append[]): Promise<void> {
    // A segment that was closed meanwhile is already synced.
    if (!this.segment && all.every((append) => append.lines.length === 0)) return;
    if (this.segment && !(await this.segment.owner.isStanding())) await this.closeSegment();
    const segment = (this.segment ??= await this.begin());
    const batch = all.filter((append) => !this.refuseErased(append));
    const lines = segment.size === 0 ? [segment.header] : [];
    const tasks = new Map(segment.tasks);
    for (const append of batch) {
      for (const task of append.tasks) {
        if (tasks.get(task.id) === task) continue;
        tasks.set(task.id, task);
        const at = new Date().toISOString();
        lines.push(encodeEvent({ version: LOG_VERSION, event: 'task', at, task: loggable(task) }));
      }
      for (const line of append.lines) lines.push(line);
    }
    const offset = segment.size;
    const sealed = lines.map((line, index) => sealLine(line, segment.lines + index + 1));
    try {
      for (const { pictures } of batch) for (const png of pictures) await keepPicture(this.logFolder, png);
      const bytes = Buffer.concat(sealed);
      for (let written = 0; written < bytes.length;) {
        const part = await segment.handle.write(bytes, written, bytes.length - written, offset + written);
        written += part.bytesWritten;
      }
      if (batch.some(({ durable }) => durable)) await segment.handle.datasync();
      segment.size += bytes.length;
      segment.lines += sealed.length;
    } catch (error) {
      await this.takeBack(segment, error);
      throw error;
    }
    tasks.forEach((task, id) => segment.tasks.set(id, task));
    await this.onWritten(segment.name);
    if (segment.size >= this.segmentBytes) await this.closeSegment();
  }

  /** A session of another window may go on with a dialogue that was erased meanwhile. */
  private refuseErased({ episodes, reject }: Append): boolean {
    const erased = episodes.find((episode) => this.isErased(episode));
    if (erased === undefined) return false;
    const message = `The dialogue ${erased} was erased from the log in ${this.logFolder}, so nothing more of it is logged. Begin a new one.`;
    reject(new Fault('trajectory/unknown', message));
    return true;
  }

  /**
   * Begins an empty segment: its header is written with its first lines, so that a full disk leaves no empty segments.
   */
  private async begin(): Promise<OpenSegment> {
    const folder = this.logFolder;
    await makeFolder(folder);
    // Events with equal times are ordered by segment name, so a later segment's name must be greater, whatever the
    // clock says.
    this.lastBegan = Math.max(Date.now(), this.lastBegan + 1);
    const stamp = new Date(this.lastBegan).toISOString().replaceAll(/[-:]/g, '').replace('.', '');
    const name = `${stamp}-${randomBytes(4).toString('hex')}${SEGMENT_EXTENSION}`;
    const file = join(folder, name);
    const owner = await own(ownerFileOf(file));
    try {
      const header = segmentHeader([], undefined, await this.beforeSegment());
      const handle = await open(file, 'wx');
      const tasks = new Map<string, Task>();
      const segment = { name, file, handle, owner, header, size: 0, lines: 0, tasks };
      try {
        await syncFolder(folder);
        await syncFolder(dirname(folder));
      } catch (error) {
        await this.takeBack(segment, error);
        throw error;
      }
      return segment;
    } catch (error) {
      await owner.end();
      throw error;
    }
  }

  private async closeSegment(): Promise<void> {
    const { segment } = this;
    if (!segment) return;
    this.segment = undefined;
    try {
      await segment.handle.sync();
    } finally {
      await segment.handle.close();
      await segment.owner.end();
    }
  }

  /**
   * Removes what a failed write may have left of its lines, and ends the segment: another process may have read them,
   * and it notices the change only if the segment becomes shorter and stays so.
   * @throws {Fault} `trajectory/not-written` if even that fails; readers then skip the torn line
   */
  private async takeBack(segment: OpenSegment, cause: unknown): Promise<void> {
    this.segment = undefined;
    const { file, handle, owner, size } = segment;
    try {
      if (size === 0) {
        await rm(file, { force: true });
      } else {
        await handle.truncate(size);
        await handle.sync();
      }
    } catch (error) {
      const message = `The log in ${this.logFolder} cannot be written: ${messageOf(cause)}; what was written of this step could not be taken back: ${messageOf(error)}. Check the disk and open the log again.`;
      throw new Fault('trajectory/not-written', message, { cause: error });
    } finally {
      await handle.close();
      await owner.end();
    }
  }
}

function writeFault(folder: string, cause: unknown): unknown {
  if (cause instanceof Fault || !(cause instanceof Error && 'code' in cause)) return cause;
  const message = `The log in ${folder} cannot be written: ${messageOf(cause)}. Nothing of this step was logged. Free some space or give permission, then try again.`;
  return new Fault('trajectory/not-written', message, { cause });
}

export function closed(): Fault {
  return new Fault('trajectory/closed', 'The log is closed; open it again.');
}

type SegmentHeader = EventOf<'segment'>;

/**
 * Without a seal. The id is new, which shows readers that the bytes they know have moved.
 *
 * @param without numbers of lines that are no longer in the segment
 * @param lost latest time of lost lines with unknown content; ISO 8601
 * @param older contents of the segments without check sums
 * @param imported where an imported segment is from
 */
export function segmentHeader(
  without: readonly NumberRange[] = [],
  lost?: string,
  older: SegmentHeader['older'] = [],
  imported?: SegmentHeader['imported'],
): Buffer {
  const at = new Date().toISOString();
  const header = { version: LOG_VERSION, event: 'segment', at, segment: randomUUID() } as const;
  return encodeEvent({
    ...header,
    ...(without.length > 0 && { without }),
    ...(lost !== undefined && { lost }),
    ...(older.length > 0 && { older }),
    ...(imported && { imported }),
  });
}

/** Versions from before there were pages read a task without these fields as damage. */
const loggable = (task: Task): Task =>
  isProgram(task) ? task : { ...task, ...{ testCases: [], hiddenInformation: '' } };
