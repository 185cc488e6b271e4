import { stat, type FileHandle } from 'node:fs/promises';
import { isTooDeep, jsonOrUndefined } from '../json';
import { endlessLine, MAX_PASSED_OVER_BYTES, MB, openRegular } from '../regularFile';
import { ifThere } from '../trajectory/files';
import { EVENTS_VERSION, eventSchemas, type TrainerEvent, type TrainerEventOf } from './events';
import { advance, type Progress } from './progress';

const READ_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;
/** No event is longer. Longer lines are skipped, and never held in memory. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Only whole lines are read; nothing of an unfinished line is kept, because a resumed trainer cuts off the rest of a
 * line that its killed predecessor left. A file that was replaced or shortened is read again from its start.
 */
export class EventTail {
  private handle: FileHandle | undefined;
  /** Behind the last whole line that was read. */
  private offset = 0;
  unreadable = 0;

  constructor(private readonly file: string) {}

  /** Events added since the last call; none while there is no file. */
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
    let length = 0; // bytes of the unfinished line
    for (;;) {
      const { bytesRead } = await this.handle.read(buffer, 0, READ_BYTES, this.offset + length);
      if (bytesRead === 0) return;
      const bytes = buffer.subarray(0, bytesRead);
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      if (end === 0) {
        length += bytesRead;
        if (length > MAX_PASSED_OVER_BYTES) throw endlessLine(this.file);
        if (length <= MAX_LINE_BYTES) begun.push(Buffer.from(bytes));
        else begun = [];
        continue;
      }
      const passedOver = length > MAX_LINE_BYTES ? bytes.indexOf(LINE_FEED) + 1 : 0;
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

  /** Opens the file again when it was replaced or cut; false if there is nothing more to read. */
  private async moveOn(): Promise<boolean> {
    const there = await ifThere(() => stat(this.file));
    if (there === undefined) return false;
    const read = await this.handle?.stat();
    if (read?.ino === there.ino && there.size >= this.offset) return false;
    const handle = await ifThere(() => openRegular(this.file));
    if (handle === undefined) return false;
    await this.close();
    this.handle = handle;
    this.offset = 0;
    return true;
  }
}

const FIRST_READ_BYTES = 64 * 1024;
/** Read at most; the trainer reports its stage far more often. */
const MAX_LAST_BYTES = 64 * MB;

/** Read from the end of the file, so that a long run takes no longer than a new one. Undefined without events. */
export async function lastProgress(file: string): Promise<Progress | undefined> {
  return withFile(file, async (handle, size) => {
    const most = Math.min(size, MAX_LAST_BYTES);
    for (let length = Math.min(size, FIRST_READ_BYTES); ; length = Math.min(most, length * 4)) {
      const progress = progressOf(await lastBytes(handle, size, length), length === size);
      if (progress?.stage !== undefined || length === most) return progress;
    }
  });
}

/** Undefined when the event is not in the last 64 KiB of the file. */
export async function lastEvent<K extends TrainerEvent['event']>(
  file: string,
  kind: K,
): Promise<TrainerEventOf<K> | undefined> {
  return withFile(file, async (handle, size) => {
    const bytes = await lastBytes(handle, size, Math.min(size, FIRST_READ_BYTES));
    // `parseEvent` rejects the first line, because its beginning is cut off.
    const events = linesOf(bytes).map(parseEvent);
    return events.findLast((event): event is TrainerEventOf<K> => event?.event === kind);
  });
}

async function withFile<T>(
  file: string,
  use: (handle: FileHandle, size: number) => Promise<T>,
): Promise<T | undefined> {
  const handle = await ifThere(() => openRegular(file));
  if (handle === undefined) return undefined;
  try {
    return await use(handle, (await handle.stat()).size);
  } finally {
    await handle.close();
  }
}

async function lastBytes(handle: FileHandle, size: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, size - length + filled);
    if (bytesRead === 0) break; // the file was cut in the meantime
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** @param isWhole false when the bytes may begin within a line */
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

/** Undefined for a line that is no event, such as the torn one of a trainer that was killed. */
export function parseEvent(line: string): TrainerEvent | undefined {
  const value = jsonOrUndefined(line);
  if (isTooDeep(value)) return undefined;
  const event = eventSchemas().known.safeParse(value).data;
  if (event !== undefined && event.version <= EVENTS_VERSION) return event;
  const other = eventSchemas().any.safeParse(value).data;
  if (other === undefined) return undefined;
  const { version, at, event: kind, ...fields } = other;
  return { event: 'other', version, at, kind, fields };
}
