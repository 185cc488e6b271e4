import { open, stat, type FileHandle } from 'node:fs/promises';
import { ifThere } from '../trajectory/files';
import { parseEvent, type TrainerEvent, type TrainerEventOf } from './events';
import { advance, type Progress } from './progress';

const READ_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;
/** No event is longer. A longer line is passed over, and never held in memory. */
const LONGEST_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Reads a file of events that grows. Only whole lines are taken; of an unfinished one nothing is remembered, because
 * a trainer that resumes cuts off what its killed predecessor left of a line. When the file is replaced, or is
 * shorter than what was read, the new one is read from its start.
 */
export class EventTail {
  private handle: FileHandle | undefined;
  /** The end of the last whole line that was read. */
  private offset = 0;
  /** Lines that are no events. */
  unreadable = 0;

  constructor(private readonly file: string) {}

  /** The events that were added since the last call; none while there is no file. */
  async *read(): AsyncGenerator<TrainerEvent> {
    do yield* this.drain();
    while (await this.moveOn());
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    await handle?.close();
  }

  private async *drain(): AsyncGenerator<TrainerEvent> {
    if (this.handle === undefined) return;
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    let begun: Buffer[] = [];
    let length = 0; // of the line that has begun
    for (;;) {
      const { bytesRead } = await this.handle.read(buffer, 0, READ_BYTES, this.offset + length);
      if (bytesRead === 0) return;
      const bytes = buffer.subarray(0, bytesRead);
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      if (end === 0) {
        length += bytesRead;
        if (length <= LONGEST_LINE_BYTES) begun.push(Buffer.from(bytes));
        else begun = [];
        continue;
      }
      const passedOver = length > LONGEST_LINE_BYTES ? bytes.indexOf(LINE_FEED) + 1 : 0;
      if (passedOver > 0) this.unreadable += 1;
      const lines = linesOf(Buffer.concat([...begun, bytes.subarray(passedOver, end)]));
      this.offset += length + end;
      begun = [Buffer.from(bytes.subarray(end))];
      length = bytesRead - end;
      for (const line of lines) {
        const event = parseEvent(line);
        if (event === undefined) this.unreadable += 1;
        else yield event;
      }
    }
  }

  /** Opens the file that is there now, unless it is the one that was just read; true when there is more to read. */
  private async moveOn(): Promise<boolean> {
    const there = await ifThere(() => stat(this.file));
    if (there === undefined) return false;
    const read = await this.handle?.stat();
    if (read?.ino === there.ino && there.size >= this.offset) return false;
    const handle = await ifThere(() => open(this.file, 'r'));
    if (handle === undefined) return false;
    await this.close();
    this.handle = handle;
    this.offset = 0;
    return true;
  }
}

const FIRST_LOOK_BYTES = 64 * 1024;

/**
 * Where the run stood when it wrote its last event, from the end of the file: a run of days is told as fast as a new
 * one. Undefined when there is no event.
 */
export async function lastProgress(file: string): Promise<Progress | undefined> {
  const handle = await ifThere(() => open(file, 'r'));
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    for (let length = Math.min(size, FIRST_LOOK_BYTES); ; length = Math.min(size, length * 4)) {
      const progress = progressOf(await lastBytes(handle, size, length), length === size);
      if (progress?.stage !== undefined || length === size) return progress;
    }
  } finally {
    await handle.close();
  }
}

/** The last event of a kind among the last ones of the file; undefined when it stands further ahead, or not at all. */
export async function lastEvent<K extends TrainerEvent['event']>(
  file: string,
  kind: K,
): Promise<TrainerEventOf<K> | undefined> {
  const handle = await ifThere(() => open(file, 'r'));
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const bytes = await lastBytes(handle, size, Math.min(size, FIRST_LOOK_BYTES));
    // A line whose beginning is cut off is no event.
    const events = linesOf(bytes).map(parseEvent);
    return events.findLast((event): event is TrainerEventOf<K> => event?.event === kind);
  } finally {
    await handle.close();
  }
}

async function lastBytes(handle: FileHandle, size: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, size - length + filled);
    if (bytesRead === 0) break; // cut off in the meantime
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** @param isWhole whether the bytes begin with the file; otherwise they begin somewhere in a line */
function progressOf(bytes: Buffer, isWhole: boolean): Progress | undefined {
  const start = isWhole ? 0 : bytes.indexOf(LINE_FEED) + 1;
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  let progress: Progress | undefined;
  for (const line of linesOf(bytes.subarray(start, Math.max(start, end)))) {
    const event = parseEvent(line);
    if (event !== undefined) progress = advance(progress, event);
  }
  return progress;
}

function linesOf(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}
