import type { Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { ifThere } from '../files';
import { scanLines, sumOfFile, type LineVisitor } from './scan';

/** What is kept of the bytes of a segment that were read, so that a change of them is noticed. */
export interface ReadBytes {
  /** Bytes read, up to the end of the last complete line. */
  scanned: number;
  /** Bytes of a last line that has no end. */
  tail: number;
  /** Of the first line, which is new whenever the segment is rewritten; undefined while there is none. */
  fingerprint?: number | undefined;
  /** The CRC-32 of the bytes read. */
  sum: number;
  /**
   * When the file had last changed while it was known to hold what was read, in milliseconds since 1970 as the system
   * says; undefined while that is not known.
   */
  changedAt?: number | undefined;
}

export const nothingRead = (): ReadBytes => ({ scanned: 0, tail: 0, sum: 0 });

/** How much of a segment's first line the fingerprint covers. */
const FINGERPRINT_BYTES = 256;

/**
 * Why a segment no longer holds what was read of it: it is gone, shorter, was rewritten or edited; the end of a sentence
 * that begins with its name. Undefined when whatever is new in it simply stands behind what was read.
 *
 * @param thoroughly also reads all that was read when the file has changed since it last agreed; without it only a file
 * is read that has changed and has not grown
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
 * Visits the complete lines that stand behind what was read of a segment, and takes note of their bytes.
 * @param readBytes as of `scanLines`
 * @returns the number of new bytes
 */
export async function readOn(
  file: string,
  known: ReadBytes,
  visit: LineVisitor,
  onTooLong?: (offset: number) => void,
  readBytes?: number,
): Promise<number> {
  const found = await stat(file);
  const from = known.scanned;
  if (found.size === from) return 0;
  const { end, tail } = await scanLines(file, from, visit, onTooLong, readBytes, (bytes) => {
    if (bytes.length > 0) known.fingerprint ??= fingerprintOf(bytes);
    known.sum = crc32(bytes, known.sum);
  });
  known.scanned = end;
  known.tail = tail;
  known.changedAt = settledTime(found, end + tail);
  return end - from;
}

/** File systems tell times in steps: a file that has just changed may change again without showing it. */
const STEP_MS = 2000;

/** When a file last changed; undefined when it does not have this size, or may change again at the same time. */
function settledTime({ size, ctimeMs }: Stats, expected: number): number | undefined {
  return size === expected && Date.now() - ctimeMs > STEP_MS ? ctimeMs : undefined;
}

/** @param front what a segment begins with, at least its first line */
export function fingerprintOf(front: Buffer): number {
  const bytes = front.subarray(0, FINGERPRINT_BYTES);
  const lineEnd = bytes.indexOf(0x0a);
  return crc32(lineEnd === -1 ? bytes : bytes.subarray(0, lineEnd));
}

async function fileFingerprint(file: string): Promise<number> {
  const handle = await open(file, 'r');
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
