import { join } from 'node:path';
import { livingOwner, ownerFileOf } from './owner';
import type { OlderSegment, LineProblem, ReadLog, ReadSegment } from './segments';

/*
 * Segments of older Tandems have no check sums in their lines. Each new segment records in its first line the contents
 * of the older ones, each once, so that later changes are detected. A segment that is rewritten on purpose gets another
 * first line, and is recorded again.
 */

/**
 * Returns the contents to record now: of the segments without check sums to which no process writes any more.
 * @param newest time of the newest event, in milliseconds since 1970
 */
export async function notYetNoted(
  logFolder: string,
  { segments, older }: ReadLog,
  newest: number,
): Promise<OlderSegment[]> {
  const until = new Date(newest).toISOString();
  const noted: OlderSegment[] = [];
  for (const { name, sequence, fingerprint, scanned: bytes, sum } of segments) {
    if (sequence.isSealed || fingerprint === undefined || older[name]?.fingerprint === fingerprint) continue;
    if (await livingOwner(ownerFileOf(join(logFolder, name)))) continue;
    noted.push({ name, fingerprint, bytes, sum, until });
  }
  return noted;
}

/**
 * If a segment no longer matches its recorded contents, returns the latest time of its lines, in milliseconds since
 * 1970; otherwise undefined.
 */
export function changedSince({ older }: ReadLog, segment: ReadSegment): number | undefined {
  const noted = older[segment.name];
  if (noted === undefined || noted.fingerprint !== segment.fingerprint) return undefined;
  return noted.bytes === segment.scanned && noted.sum === segment.sum ? undefined : Date.parse(noted.until);
}

export function changedOlder(log: ReadLog): LineProblem[] {
  return log.segments.flatMap((segment) => {
    if (changedSince(log, segment) === undefined) return [];
    const reason =
      'The file was changed after its check sum was noted in a later one; its lines have none, so nobody can tell which.';
    return [{ file: segment.name, line: 1, reason }];
  });
}
