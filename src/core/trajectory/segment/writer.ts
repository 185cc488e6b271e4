import { randomBytes } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Task } from '../../task/task';
import { Fault, messageOf } from '../../fault';
import { LOG_VERSION, type EventOf, type LogEvent } from '../event';
import { makeFolder, syncFolder } from '../files';
import { segmentHeader } from './header';
import { encodeEvent } from './line';
import { claim, release } from './owner';
import { MAX_LINE_BYTES } from './scan';
import { MAX_SEAL_BYTES, sealLine } from './seal';

export const SEGMENT_EXTENSION = '.jsonl';

/** Called after lines were written (and synced, where that was asked) and before their appends resolve. */
export type WrittenListener = (segment: string, lines: readonly Buffer[], offset: number) => Promise<void>;

interface Append {
  readonly lines: readonly Buffer[];
  /** Tasks that must stand in the segment before these lines. */
  readonly tasks: readonly Task[];
  readonly durable: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface OpenSegment {
  readonly name: string;
  readonly file: string;
  readonly handle: FileHandle;
  /** Its first line, which is written with the first events. */
  readonly header: Buffer;
  size: number;
  lines: number;
  /** Tasks in this segment: id → their line's content. */
  readonly tasks: Map<string, Task>;
}

export interface WriterOptions {
  readonly folder: string;
  /** A new segment is begun once one has this size. */
  readonly segmentBytes: number;
  readonly onWritten: WrittenListener;
  /** Throws when no segment may be begun now; else gives what its first line says of segments without check sums. */
  readonly beforeSegment: () => Promise<EventOf<'segment'>['older']>;
}

/**
 * Writes this process's own segments: append-only, one writer, lines never torn apart by other lines. What is appended
 * while a write or a sync is under way goes out together in the next one, so that many durable appends share one sync.
 */
export class SegmentWriter {
  private pending: Append[] = [];
  private segment: OpenSegment | undefined;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  /** The time in the name of the newest segment, in milliseconds since 1970. */
  private lastBegan = 0;

  constructor(private readonly options: WriterOptions) {}

  /**
   * Resolves when the events are in the file, and with `durable` on the disk. All of one call stand next to each other.
   * @throws {Fault} `trajectory/too-long`, `trajectory/not-written`
   */
  append(events: readonly LogEvent[], tasks: readonly Task[], durable: boolean): Promise<void> {
    const lines = events.map((event) => encodeEvent(event));
    const limit = MAX_LINE_BYTES - MAX_SEAL_BYTES;
    const long = lines.find((line) => line.length > limit);
    if (long) {
      const message = `An event of ${long.length} bytes is not logged: the limit is ${limit} bytes.`;
      return Promise.reject(new Fault('trajectory/too-long', message));
    }
    return new Promise<void>((resolve, reject) => {
      this.pending.push({ lines, tasks, durable, resolve, reject });
      this.start();
    });
  }

  /** Resolves when what was appended before is on the disk. A segment that was closed meanwhile was synced then. */
  async sync(): Promise<void> {
    if (this.segment || this.isRunning) await this.append([], [], true);
  }

  /** Runs `work` with no segment open and nothing being written; what is appended meanwhile is written afterwards. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    while (this.isRunning) await this.running;
    this.isRunning = true;
    const result = this.closeSegment().then(work);
    this.running = result.then(
      () => this.drain(),
      () => this.drain(),
    );
    return result;
  }

  /** Writes what is pending, syncs and closes the segment. */
  async close(): Promise<void> {
    while (this.isRunning) await this.running;
    await this.closeSegment();
  }

  private start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.running = this.drain();
  }

  /** Never rejects: each append learns of its own failure. */
  private async drain(): Promise<void> {
    // One turn of the event loop, so that appends made together are written together.
    await Promise.resolve();
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      try {
        await this.write(batch);
        batch.forEach(({ resolve }) => resolve());
      } catch (error) {
        const fault = writeFault(this.options.folder, error);
        batch.forEach(({ reject }) => reject(fault));
      }
    }
    this.isRunning = false;
  }

  private async write(batch: readonly Append[]): Promise<void> {
    // A sync of a segment that was closed meanwhile needs no new one.
    if (!this.segment && batch.every((append) => append.lines.length === 0)) return;
    const segment = (this.segment ??= await this.begin());
    const lines = segment.size === 0 ? [segment.header] : [];
    const tasks = new Map(segment.tasks);
    for (const append of batch) {
      for (const task of append.tasks) {
        if (tasks.get(task.id) === task) continue;
        tasks.set(task.id, task);
        const at = new Date().toISOString();
        lines.push(encodeEvent({ version: LOG_VERSION, event: 'task', at, task }));
      }
      for (const line of append.lines) lines.push(line);
    }
    const offset = segment.size;
    const sealed = lines.map((line, index) => sealLine(line, segment.lines + index + 1));
    try {
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
    await this.options.onWritten(segment.name, sealed, offset);
    if (segment.size >= this.options.segmentBytes) await this.closeSegment();
  }

  /** An empty segment: its header is written with its first lines, so that a full disk leaves no empty ones behind. */
  private async begin(): Promise<OpenSegment> {
    const { folder } = this.options;
    await makeFolder(folder);
    // Of events of the same time those in the segment that was begun first come first, whatever the clock does.
    this.lastBegan = Math.max(Date.now(), this.lastBegan + 1);
    const stamp = new Date(this.lastBegan).toISOString().replaceAll(/[-:]/g, '').replace('.', '');
    const name = `${stamp}-${randomBytes(4).toString('hex')}${SEGMENT_EXTENSION}`;
    const file = join(folder, name);
    try {
      await claim(file);
      const header = segmentHeader([], undefined, await this.options.beforeSegment());
      const handle = await open(file, 'wx');
      const segment = { name, file, handle, header, size: 0, lines: 0, tasks: new Map<string, Task>() };
      try {
        await syncFolder(folder);
        await syncFolder(dirname(folder));
      } catch (error) {
        await this.takeBack(segment, error);
        throw error;
      }
      return segment;
    } catch (error) {
      await release(file);
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
      await release(segment.file);
    }
  }

  /**
   * Takes away what a failed write may have left of its lines, and ends the segment: another process may have read them,
   * and notices only a segment that got shorter and stays so.
   * @throws {Fault} `trajectory/not-written` when even that fails; readers then pass over the torn line
   */
  private async takeBack(segment: OpenSegment, cause: unknown): Promise<void> {
    this.segment = undefined;
    const { file, handle, size } = segment;
    try {
      if (size === 0) {
        await rm(file, { force: true });
      } else {
        await handle.truncate(size);
        await handle.sync();
      }
    } catch (error) {
      const message = `The log in ${this.options.folder} cannot be written: ${messageOf(cause)}; what was written of this step could not be taken back: ${messageOf(error)}. Look after the disk and open the log again.`;
      throw new Fault('trajectory/not-written', message, { cause: error });
    } finally {
      await handle.close();
      await release(file);
    }
  }
}

function writeFault(folder: string, cause: unknown): unknown {
  if (cause instanceof Fault || !(cause instanceof Error && 'code' in cause)) return cause;
  const message = `The log in ${folder} cannot be written: ${messageOf(cause)}. Nothing of this step is counted as logged; make room or give permission and try again.`;
  return new Fault('trajectory/not-written', message, { cause });
}
