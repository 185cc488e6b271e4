import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { openRegular, refuseOther } from '../../regularFile';
import { ifThere } from '../files';
import { isWrittenElsewhere } from './owner';
import { scanLines, sumOfFile, type LineVisitor } from './scan';

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

/** Bytes of the first line that the fingerprint covers. */
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
 * @param known gets the new bytes
 * @param readBytes as for `scanLines`
 * @param onVisited called, before more is awaited, when all bytes recorded in `known` have been visited
 * @returns the number of new bytes
 */
export async function readOn(
  file: string,
  known: ReadBytes,
  visit: LineVisitor,
  onTooLong?: (offset: number) => void,
  readBytes?: number,
  onVisited?: () => void,
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
  const { end, tail } = await scanLines(file, from, visit, onTooLong, readBytes, onBytes, onVisited, mayFill);
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
