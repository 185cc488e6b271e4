import { changedSince } from './older';
import type { IndexedSegment, IndexParts } from './parts';

/** Where lines are lost of which nobody can tell what they said. */
export interface LostLines {
  readonly segment: number;
  /** Events of the same segment stand behind it from here on, in bytes; undefined where only the time is known. */
  readonly offset: number | undefined;
  /** They were written at this time or before, in milliseconds since 1970. */
  readonly at: number;
}

/** The last ones of each segment; those of one without check sums that was changed may have been any. */
export function lostLines(parts: IndexParts): LostLines[] {
  return parts.segments.flatMap((indexed, segment) => {
    const { gap, open, lostBy } = indexed.losses;
    const changed = changedSince(parts, indexed);
    const last = open?.isAnything ? open : gap;
    return [
      ...(last === undefined ? [] : [{ segment, offset: last.offset, at: last.at }]),
      ...[lostBy, changed].flatMap((at) => (at === undefined ? [] : [{ segment, offset: undefined, at }])),
    ];
  });
}

/** The last time at which a consent may have been lost, in milliseconds since 1970; -Infinity when none was. */
export function consentsLostBy(parts: IndexParts): number {
  return Math.max(
    Number.NEGATIVE_INFINITY,
    ...parts.segments.map((segment) => consentsLostIn(parts, segment)),
  );
}

/** As `consentsLostBy`, in one segment. */
export function consentsLostIn(parts: IndexParts, segment: IndexedSegment): number {
  const { gap, open, consentsBy, lostBy } = segment.losses;
  const times = [gap?.at, open?.at, consentsBy, lostBy, changedSince(parts, segment)];
  return Math.max(Number.NEGATIVE_INFINITY, ...times.filter((at) => at !== undefined));
}

/**
 * Marks the rows from `from` on whose episodes had begun when lines were lost. Where an episode was deleted or restored,
 * at whatever time, its row is put into `unsettled`: folding its events tells what holds.
 */
export function markDoubtful(parts: IndexParts, from: number, unsettled: Set<number>): void {
  const { episodes, ranges } = parts;
  const lost = lostLines(parts);
  for (let row = from; row < episodes.length; row += 1) {
    if (!episodes.isStarted(row)) continue;
    const hadBegun = lost.length > 0 && isBefore(row, lost);
    if (hadBegun && !episodes.wasDeleted(row)) episodes.doubt(row);
    else if (hadBegun || episodes.isDoubtful(row)) unsettled.add(row);
  }

  function isBefore(row: number, all: readonly LostLines[]): boolean {
    const { segment, start } = ranges.chain(episodes.columns.lastRange.get(row))[0]!;
    const startedAt = episodes.columns.startedAt.get(row);
    // In its own segment the order is that of the file; elsewhere only the time tells, and equal times count as before.
    return all.some((one) =>
      one.segment === segment && one.offset !== undefined ? start < one.offset : startedAt <= one.at,
    );
  }
}
