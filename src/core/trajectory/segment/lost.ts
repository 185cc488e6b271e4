import type { ReadLog, ReadSegment } from './segments';
import { changedSince } from './older';

/** A place where lines were lost whose content nobody can tell. */
export interface LostLines {
  /** Number of the segment, from 0. */
  readonly segment: number;
  /** Byte offset from which events of the segment follow the loss; undefined if only the time is known. */
  readonly offset: number | undefined;
  /** Latest time of the lost lines, in milliseconds since 1970. */
  readonly at: number;
}

/** Returns the last loss of each segment; a changed segment without check sums may have lost any lines. */
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

/** Returns the latest time at which a consent may have been lost, in milliseconds since 1970; -Infinity if none was. */
export function consentsLostBy(log: ReadLog): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...log.segments.map((segment) => consentsLostIn(log, segment)));
}

/** Works like `consentsLostBy`, for one segment. */
export function consentsLostIn(log: ReadLog, segment: ReadSegment): number {
  const { gap, open, consentsBy, lostBy } = segment.losses;
  const times = [gap?.at, open?.at, consentsBy, lostBy, changedSince(log, segment)];
  return Math.max(Number.NEGATIVE_INFINITY, ...times.filter((at) => at !== undefined));
}
