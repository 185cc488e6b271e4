import { open } from 'node:fs/promises';

/** Above any event that Tandem writes; a longer line is reported and never held in memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const READ_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** One complete line: the bytes from `start` to `end` of `buffer`, without the line feed, valid until it returns. */
export type LineVisitor = (buffer: Buffer, start: number, end: number, offset: number) => void;

export interface Scanned {
  /** Offset in the file after the last complete line. */
  readonly end: number;
  /** Bytes of an incomplete line after it; 0 when the file ends in a line feed. */
  readonly tail: number;
}

/**
 * Visits the complete lines of a file from an offset, in order. Empty lines are visited too, so that the caller can
 * count lines. A line over the limit is visited as an empty range (`start === end`) after `onTooLong` was told.
 * Memory: one buffer, as large as the longest line.
 */
export async function scanLines(
  file: string,
  from: number,
  visit: LineVisitor,
  onTooLong?: (offset: number) => void,
): Promise<Scanned> {
  const handle = await open(file, 'r');
  try {
    let buffer = Buffer.allocUnsafe(READ_BYTES);
    let kept = 0; // bytes of a line that has begun, at the front of the buffer
    let offset = from; // of the buffer's first byte
    let skipped: number | undefined; // where a line over the limit begins, while inside of it
    for (;;) {
      if (kept === buffer.length) buffer = grown(buffer);
      const { bytesRead } = await handle.read(buffer, kept, buffer.length - kept, offset + kept);
      if (bytesRead === 0) {
        const end = skipped ?? offset;
        return { end, tail: offset + kept - end };
      }
      const filled = kept + bytesRead;
      let start = 0;
      // What was kept holds no line feed, so that the search need not begin before the new bytes.
      for (let end = indexOfLineFeed(buffer, kept, filled); end !== -1;) {
        if (skipped === undefined) visit(buffer, start, end, offset + start);
        else visit(buffer, end, end, skipped);
        skipped = undefined;
        start = end + 1;
        end = indexOfLineFeed(buffer, start, filled);
      }
      kept = filled - start;
      if (kept >= MAX_LINE_BYTES && skipped === undefined) {
        skipped = offset + start;
        onTooLong?.(skipped);
      }
      if (skipped !== undefined) {
        start = filled;
        kept = 0;
      }
      if (start > 0 && kept > 0) buffer.copyWithin(0, start, filled);
      offset += start;
    }
  } finally {
    await handle.close();
  }
}

function indexOfLineFeed(buffer: Buffer, from: number, filled: number): number {
  const found = buffer.indexOf(LINE_FEED, from);
  return found < filled ? found : -1;
}

function grown(buffer: Buffer): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}
