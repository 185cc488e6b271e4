import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Task } from '../../task/task';
import { Fault, messageOf } from '../../fault';
import { LOG_VERSION, type LogEvent } from '../event';
import { syncFolder } from '../files';
import { encodeEvent } from './line';
import { claim, release } from './owner';
import { MAX_LINE_BYTES } from './scan';

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
  size: number;
  /** Tasks in this segment: id → their line's content. */
  readonly tasks: Map<string, Task>;
}

export interface WriterOptions {
  readonly folder: string;
  /** A new segment is begun once one has this size. */
  readonly segmentBytes: number;
  readonly onWritten: WrittenListener;
  /** Throws when no segment may be begun now. */
  readonly beforeSegment: () => Promise<void>;
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

  constructor(private readonly options: WriterOptions) {}

  /**
   * Resolves when the events are in the file, and with `durable` on the disk. All of one call stand next to each other.
   * @throws {Fault} `trajectory/too-long`, `trajectory/not-written`
   */
  append(events: readonly LogEvent[], tasks: readonly Task[], durable: boolean): Promise<void> {
    const lines = events.map((event) => encodeEvent(event));
    const long = lines.find((line) => line.length > MAX_LINE_BYTES);
    if (long) {
      const message = `An event of ${long.length} bytes is not logged: the limit is ${MAX_LINE_BYTES} bytes.`;
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
    const segment = (this.segment ??= await this.begin());
    const lines: Buffer[] = [];
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
    try {
      const bytes = Buffer.concat(lines);
      for (let written = 0; written < bytes.length;) {
        const part = await segment.handle.write(bytes, written, bytes.length - written, offset + written);
        written += part.bytesWritten;
      }
      if (batch.some(({ durable }) => durable)) await segment.handle.datasync();
      segment.size += bytes.length;
    } catch (error) {
      // What the file holds now is not certain: leave it, and begin a new segment with the next append.
      await this.giveUpSegment(segment);
      throw error;
    }
    tasks.forEach((task, id) => segment.tasks.set(id, task));
    await this.options.onWritten(segment.name, lines, offset);
    if (segment.size >= this.options.segmentBytes) await this.closeSegment();
  }

  private async begin(): Promise<OpenSegment> {
    const { folder } = this.options;
    await mkdir(folder, { recursive: true });
    const at = new Date().toISOString();
    const stamp = at.replaceAll(/[-:]/g, '').replace('.', '');
    const name = `${stamp}-${randomBytes(4).toString('hex')}${SEGMENT_EXTENSION}`;
    const file = join(folder, name);
    await claim(file);
    let handle: FileHandle | undefined;
    try {
      await this.options.beforeSegment();
      handle = await open(file, 'wx');
      const segment = { name, file, handle, size: 0, tasks: new Map<string, Task>() };
      const header = encodeEvent({ version: LOG_VERSION, event: 'segment', at, segment: randomUUID() });
      await handle.write(header, 0, header.length);
      await handle.datasync();
      await syncFolder(folder);
      await syncFolder(dirname(folder));
      segment.size = header.length;
      await this.options.onWritten(name, [header], 0);
      return segment;
    } catch (error) {
      await handle?.close();
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

  private async giveUpSegment(segment: OpenSegment): Promise<void> {
    this.segment = undefined;
    await segment.handle.close();
    await release(segment.file);
  }
}

function writeFault(folder: string, cause: unknown): unknown {
  if (cause instanceof Fault || !(cause instanceof Error && 'code' in cause)) return cause;
  const message = `The log in ${folder} cannot be written: ${messageOf(cause)}. Nothing of this step is counted as logged; make room or give permission and try again.`;
  return new Fault('trajectory/not-written', message, { cause });
}
