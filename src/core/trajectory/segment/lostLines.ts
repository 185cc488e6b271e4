import { join } from 'node:path';
import type { ReadLog, ReadSegment, OlderSegment, LineProblem } from './segments';
import { byNow } from './future';
import { livingOwner, ownerFileOf } from './owner';

/** Lines were lost here, and their content is unknown. */
export interface LostLines {
  /** Number of the segment, from 0. */
  readonly segment: number;
  /** Byte offset from which events of the segment follow the loss; undefined if only the time is known. */
  readonly offset: number | undefined;
  /** Latest time of the lost lines, in milliseconds since 1970. */
  readonly at: number;
}

/** The last loss of each segment; a changed segment without check sums may have lost any lines. */
export function lostLines(log: ReadLog): LostLines[] {
  return log.segments.flatMap((read, segment) => {
    const { gap, open, lostBy } = read.losses;
    const changed = changedSince(log, read);
    const last = open?.isAnything ? open : gap;
    return [
      ...(last === undefined ? [] : [{ segment, offset: last.offset, at: last.at }]),
      ...[lostBy, changed].flatMap((at) => (at === undefined ? [] : [{ segment, offset: undefined, at }])),
    ];
  });
}

/** Latest time at which a consent may have been lost, in milliseconds since 1970; -Infinity if none was. */
export function consentsLostBy(log: ReadLog): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...log.segments.map((segment) => consentsLostIn(log, segment)));
}

export function consentsLostIn(log: ReadLog, segment: ReadSegment): number {
  const { gap, open, consentsBy, lostBy } = segment.losses;
  const times = [gap?.at, open?.at, consentsBy, lostBy, changedSince(log, segment)];
  return Math.max(Number.NEGATIVE_INFINITY, ...times.filter((at) => at !== undefined));
}

/*
 * Segments of older Tandems have no check sums in their lines. Each new segment records in its first line the contents
 * of the older ones, each once, so that later changes are detected. A segment that is rewritten on purpose gets another
 * first line, and is recorded again.
 */

/**
 * Contents of the segments without check sums to which no process writes any more.
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

/** Latest time of the lines of a segment that no longer matches its recorded contents, in milliseconds since 1970. */
function changedSince({ older }: ReadLog, segment: ReadSegment): number | undefined {
  // A segment with check sums needs no note, so one that names it is wrong.
  const noted = segment.sequence.isSealed ? undefined : older[segment.name];
  if (noted === undefined || noted.fingerprint !== segment.fingerprint) return undefined;
  return noted.bytes === segment.scanned && noted.sum === segment.sum
    ? undefined
    : byNow(Date.parse(noted.until));
}

export function changedOlder(log: ReadLog): LineProblem[] {
  return log.segments.flatMap((segment) => {
    if (changedSince(log, segment) === undefined) return [];
    const reason =
      'The file was changed after its check sum was noted in a later one; its lines have none, so nobody can tell which.';
    return [{ file: segment.name, line: 1, reason }];
  });
}
