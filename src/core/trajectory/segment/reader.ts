import { type FileHandle, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { endlessLine, MAX_PASSED_OVER_BYTES, openRegular, refuseOther } from '../../regularFile';
import type { Stats } from 'node:fs';
import { ifThere } from '../files';
import { isWrittenElsewhere } from '../claim';

/** More than any event that Tandem writes; a longer line is reported and never held in memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const READ_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;
const EMPTY = Buffer.alloc(0);

/**
 * Gets one complete line without the line feed, which is valid until the visit returns, and its position in the file.
 */
export type LineVisitor = (line: Buffer, offset: number) => void;

export interface Scanned {
  /** File offset after the last complete line. */
  readonly end: number;
  /** Bytes of an incomplete line after it; 0 if the file ends in a line feed. */
  readonly tail: number;
}

export interface ScanOptions {
  /** Called with the offset of a line over the limit. */
  readonly onTooLong?: (offset: number) => void;
  /** Maximum number read at once; the process is blocked while their lines are visited. */
  readonly readBytes?: number;
  /** Called with the bytes of all complete lines in order, those over the limit too, before the visits. */
  readonly onBytes?: (bytes: Buffer) => void;
  /** Called when all these bytes have been visited, before anything is awaited. */
  readonly onVisited?: () => void;
  /**
   * Whether a NUL byte, which is in no line, stands for bytes that are still on their way to a network drive: the scan
   * then ends before that line.
   */
  readonly mayFill?: () => Promise<boolean>;
}

/**
 * Visits the complete lines of a file from an offset, in order; the next ones are read meanwhile. Empty lines are
 * visited too, so that callers can count lines. A line over the limit is visited as an empty one after a call of
 * `onTooLong`. Memory: two buffers as large as the longest line.
 */
export async function scanLines(
  file: string,
  from: number,
  visit: LineVisitor,
  { onTooLong, readBytes = READ_BYTES, onBytes, onVisited, mayFill }: ScanOptions = {},
): Promise<Scanned> {
  const handle = await openRegular(file);
  try {
    // Most scans read a small segment or a few lines at its end, and large buffers keep the garbage collector busy.
    const size = Math.min(readBytes, Math.max(1, (await handle.stat()).size - from));
    let current = Buffer.allocUnsafe(size);
    let next = Buffer.allocUnsafe(size);
    let offset = from; // file offset of the first byte in `current`
    let { bytesRead: filled } = await handle.read(current, 0, current.length, offset);
    const visitAll = (complete: number): void => {
      onBytes?.(current.subarray(0, complete));
      visitLines(current, complete, offset, visit, onTooLong);
      onVisited?.();
    };
    while (filled > 0) {
      const hole = mayFill === undefined ? -1 : current.subarray(0, filled).indexOf(0);
      const isHole = hole !== -1 && (await mayFill?.()) === true;
      const complete = current.subarray(0, isHole ? hole : filled).lastIndexOf(LINE_FEED) + 1;
      if (isHole) {
        visitAll(complete);
        return { end: offset + complete, tail: (await handle.stat()).size - offset - complete };
      }
      const begun = filled - complete; // bytes of a line that continues in the next read
      if (begun >= MAX_LINE_BYTES) {
        visitAll(complete);
        const long = offset + complete;
        const end = await endOfLine(handle, current, file, [long, offset + filled]);
        if (end !== undefined && onBytes) await readAgain(handle, current, long, end + 1, onBytes);
        onTooLong?.(long);
        if (end !== undefined) visit(EMPTY, long);
        onVisited?.();
        if (end === undefined) return { end: long, tail: (await handle.stat()).size - long };
        offset = end + 1;
        filled = (await handle.read(current, 0, current.length, offset)).bytesRead;
        continue;
      }
      if (next.length < 2 * begun) next = Buffer.allocUnsafe(2 * begun);
      current.copy(next, 0, complete, filled);
      const reading = handle.read(next, begun, next.length - begun, offset + filled);
      visitAll(complete);
      offset += complete;
      const { bytesRead } = await reading;
      if (bytesRead === 0) return { end: offset, tail: begun };
      [current, next] = [next, current];
      filled = begun + bytesRead;
    }
    return { end: offset, tail: 0 };
  } finally {
    await handle.close();
  }
}

function visitLines(
  buffer: Buffer,
  complete: number,
  offset: number,
  visit: LineVisitor,
  onTooLong: ((offset: number) => void) | undefined,
): void {
  for (let start = 0; start < complete;) {
    const end = buffer.indexOf(LINE_FEED, start);
    if (end - start < MAX_LINE_BYTES) {
      visit(buffer.subarray(start, end), offset + start);
    } else {
      onTooLong?.(offset + start);
      visit(EMPTY, offset + start);
    }
    start = end + 1;
  }
}

/** In pieces of the buffer's size. */
async function readAgain(
  handle: FileHandle,
  buffer: Buffer,
  from: number,
  to: number,
  onBytes: (bytes: Buffer) => void,
): Promise<void> {
  for (let offset = from; offset < to;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, to - offset), offset);
    if (bytesRead === 0) return;
    onBytes(buffer.subarray(0, bytesRead));
    offset += bytesRead;
  }
}

/** Of the first `length` bytes of a file, or of the whole file if it is shorter. */
export async function sumOfFile(file: string, length: number): Promise<number> {
  const handle = await openRegular(file);
  try {
    let sum = 0;
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, Math.max(1, length)));
    await readAgain(handle, buffer, 0, length, (bytes) => (sum = crc32(bytes, sum)));
    return sum;
  } finally {
    await handle.close();
  }
}

/**
 * Offset of the next line feed. Overwrites the buffer.
 * @param range where the line begins, and how far it is read
 * @throws {Fault} `file/too-large`
 */
async function endOfLine(
  handle: FileHandle,
  buffer: Buffer,
  file: string,
  [start, from]: readonly [number, number],
): Promise<number | undefined> {
  for (let offset = from; ;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
    if (bytesRead === 0) return undefined;
    const found = buffer.subarray(0, bytesRead).indexOf(LINE_FEED);
    if (found !== -1) return offset + found;
    offset += bytesRead;
    if (offset - start > MAX_PASSED_OVER_BYTES) throw endlessLine(file);
  }
}

/** Kept to detect changes of the bytes that were read. */
export interface ReadBytes {
  /** Bytes read, up to the end of the last complete line. */
  scanned: number;
  /** Bytes of a last line without an end. */
  tail: number;
  /** Fingerprint of the first line, which changes when the segment is rewritten; undefined before there is one. */
  fingerprint?: number | undefined;
  /** CRC-32 of the bytes read. */
  sum: number;
  /**
   * The file's change time (ctime) when it was known to hold what was read, in milliseconds since 1970; undefined if
   * not known.
   */
  changedAt?: number | undefined;
}

export const nothingRead = (): ReadBytes => ({ scanned: 0, tail: 0, sum: 0 });

const FINGERPRINT_BYTES = 256;

/**
 * Returns why a segment no longer matches what was read of it: it is gone, shorter, rewritten or edited. The reason
 * completes a sentence that begins with the segment's name. Undefined if the segment is unchanged or only grew.
 *
 * @param thoroughly also reads the known bytes again if the file changed since they last matched; without it, this is
 * done only if the file changed but did not grow
 */
export async function whyChanged(
  file: string,
  known: ReadBytes,
  thoroughly: boolean,
): Promise<string | undefined> {
  const { scanned, fingerprint, tail, changedAt } = known;
  const found = await ifThere(() => stat(file));
  if (found === undefined) return 'is gone';
  if (found.size < scanned) return 'is shorter than it was';
  if (fingerprint !== undefined && (await fileFingerprint(file)) !== fingerprint) return 'was rewritten';
  const isSuspect = changedAt !== undefined && found.size === scanned + tail;
  if (found.ctimeMs === changedAt || (!thoroughly && !isSuspect)) return undefined;
  if ((await sumOfFile(file, scanned)) !== known.sum) return 'was edited';
  known.changedAt = settledTime(found, scanned + tail);
  return undefined;
}

/**
 * @param known gets the new bytes; `onVisited` is called when all bytes that it then has were visited
 * @returns the number of new bytes
 */
export async function readOn(
  file: string,
  known: ReadBytes,
  visit: LineVisitor,
  options: Pick<ScanOptions, 'onTooLong' | 'readBytes' | 'onVisited'>,
): Promise<number> {
  const found = await stat(file);
  refuseOther(file, found); // a pipe and a device have no size, and would count as read
  const from = known.scanned;
  if (found.size === from) return 0;
  const onBytes = (bytes: Buffer): void => {
    if (bytes.length > 0) known.fingerprint ??= fingerprintOf(bytes);
    known.sum = crc32(bytes, known.sum);
  };
  // A machine that writes to a network drive may send the end of a write before its middle.
  const mayFill = (): Promise<boolean> => isWrittenElsewhere(file);
  const { end, tail } = await scanLines(file, from, visit, { ...options, onBytes, mayFill });
  known.scanned = end;
  known.tail = tail;
  known.changedAt = settledTime(found, end + tail);
  return end - from;
}

/** Resolution of file times, with a margin: a file that has just changed may change again without a new time. */
const STEP_MS = 2000;

/** Undefined if the file's size differs, or it may change again at the same time. */
function settledTime({ size, ctimeMs }: Stats, expected: number): number | undefined {
  return size === expected && Date.now() - ctimeMs > STEP_MS ? ctimeMs : undefined;
}

/** @param front first bytes of the segment, at least its first line */
export function fingerprintOf(front: Buffer): number {
  const bytes = front.subarray(0, FINGERPRINT_BYTES);
  const lineEnd = bytes.indexOf(0x0a);
  return crc32(lineEnd === -1 ? bytes : bytes.subarray(0, lineEnd));
}

async function fileFingerprint(file: string): Promise<number> {
  const handle = await openRegular(file);
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.allocUnsafe(FINGERPRINT_BYTES),
      0,
      FINGERPRINT_BYTES,
      0,
    );
    return fingerprintOf(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}
