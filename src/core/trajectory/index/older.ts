import { join } from 'node:path';
import { livingOwner, ownerFileOf } from '../segment/owner';
import type { LogIndex } from './logIndex';
import type { IndexedSegment, IndexParts, Noted, Problem } from './parts';

/*
 * Segments of older Tandems have no check sums of their lines. Whoever begins a new segment notes in its first line what
 * the older ones hold, each once, so that a change of them is noticed from then on. What is rewritten on purpose has
 * another first line, and is noted anew.
 */

/** What is to be noted now: of the segments without sums those that no process writes to any more. */
export async function notYetNoted(logFolder: string, { parts, newest }: LogIndex): Promise<Noted[]> {
  const { segments, older } = parts;
  const until = new Date(newest).toISOString();
  const noted: Noted[] = [];
  for (const { name, sequence, fingerprint, scanned: bytes, sum } of segments) {
    if (sequence.isSealed || fingerprint === undefined || older[name]?.fingerprint === fingerprint) continue;
    if (await livingOwner(ownerFileOf(join(logFolder, name)))) continue;
    noted.push({ name, fingerprint, bytes, sum, until });
  }
  return noted;
}

/**
 * Until when the lines of a segment were written, in milliseconds since 1970, if it no longer holds what was noted of it;
 * else undefined.
 */
export function changedSince({ older }: IndexParts, segment: IndexedSegment): number | undefined {
  const noted = older[segment.name];
  if (noted === undefined || noted.fingerprint !== segment.fingerprint) return undefined;
  return noted.bytes === segment.scanned && noted.sum === segment.sum ? undefined : Date.parse(noted.until);
}

export function changedOlder(parts: IndexParts): Problem[] {
  return parts.segments.flatMap((segment) => {
    if (changedSince(parts, segment) === undefined) return [];
    const reason =
      'The file was changed after its check sum was noted in a later one; its lines have none, so nobody can tell which.';
    return [{ file: segment.name, line: 1, reason }];
  });
}
