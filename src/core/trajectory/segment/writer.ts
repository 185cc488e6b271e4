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

/** Called after lines were written (and synced, if requested) and before their appends resolve. */
type WrittenListener = (segment: string, lines: readonly Buffer[], offset: number) => Promise<void>;

interface Append {
  readonly lines: readonly Buffer[];
  /** Tasks that must be in the segment before these lines. */
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
  /** Tasks already written to this segment, by id. */
  readonly tasks: Map<string, Task>;
}

interface WriterOptions {
  readonly folder: string;
  /** Size in bytes at which a segment is closed and a new one begun. */
  readonly segmentBytes: number;
  readonly onWritten: WrittenListener;
  /**
   * Called before a segment is begun; throws if none may be begun now. Returns the contents of segments without check
   * sums, for its first line.
   */
  readonly beforeSegment: () => Promise<EventOf<'segment'>['older']>;
}

/**
 * Writes this process's own segments: append-only, one writer, no line split by another. Appends during a write or a
 * sync are written together in the next one, so that many durable appends share one sync.
 */
export class SegmentWriter {
  private pending: Append[] = [];
  private segment: OpenSegment | undefined;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  /** Time in the name of the newest segment, in milliseconds since 1970. */
  private lastBegan = 0;

  constructor(private readonly options: WriterOptions) {}

  /**
   * Appends events; resolves when they are in the file, and with `durable` on disk. The events of one call are
   * adjacent.
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

  /** Resolves when everything appended before is on disk. A segment that was closed meanwhile has been synced. */
  async sync(): Promise<void> {
    if (this.segment || this.isRunning) await this.append([], [], true);
  }

  /** Runs `work` while no segment is open and nothing is written; appends during it are written afterwards. */
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

  /** Writes pending lines, syncs and closes the segment. */
  async close(): Promise<void> {
    while (this.isRunning) await this.running;
    await this.closeSegment();
  }

  private start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.running = this.drain();
  }

  /** Writes all pending appends. It never rejects: each append gets its own error. */
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
        const fault = writeFault(this.options.folder, error);
        batch.forEach(({ reject }) => reject(fault));
      }
    }
    this.isRunning = false;
  }

  private async write(batch: readonly Append[]): Promise<void> {
    // A segment that was closed meanwhile is already synced.
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

  /**
   * Begins an empty segment: its header is written with its first lines, so that a full disk leaves no empty segments.
   */
  private async begin(): Promise<OpenSegment> {
    const { folder } = this.options;
    await makeFolder(folder);
    // Events with equal times are ordered by segment name, so a later segment's name must be greater, whatever the
    // clock says.
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
   * Removes what a failed write may have left of its lines, and ends the segment: another process may have read them,
   * and it notices the change only if the segment becomes shorter and stays so.
   * @throws {Fault} `trajectory/not-written` if even that fails; readers then skip the torn line
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
