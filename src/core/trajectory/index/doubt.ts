import type { IndexedSegment, IndexParts } from './parts';

/** Where lines are lost of which nobody can tell what they said. */
export interface LostLines {
  readonly segment: number;
  /** Events of the same segment stand behind it from here on, in bytes; undefined where only the time is known. */
  readonly offset: number | undefined;
  /** They were written at this time or before, in milliseconds since 1970. */
  readonly at: number;
}

/** The last ones of each segment. */
export function lostLines(segments: readonly IndexedSegment[]): LostLines[] {
  return segments.flatMap(({ losses: { gap, open, lostBy } }, segment) => {
    const last = open?.isAnything ? open : gap;
    return [
      ...(last === undefined ? [] : [{ segment, offset: last.offset, at: last.at }]),
      ...(lostBy === undefined ? [] : [{ segment, offset: undefined, at: lostBy }]),
    ];
  });
}

/** The last time at which a consent may have been lost, in milliseconds since 1970; -Infinity when none was. */
export function consentsLostBy(segments: readonly IndexedSegment[]): number {
  const times = segments.flatMap(({ losses: { gap, open, consentsBy, lostBy } }) => [
    ...[gap?.at, open?.at, consentsBy, lostBy].filter((at) => at !== undefined),
  ]);
  return Math.max(Number.NEGATIVE_INFINITY, ...times);
}

/**
 * Marks the rows from `from` on whose episodes had begun when lines were lost. Where an episode was deleted or restored,
 * at whatever time, its row is put into `unsettled`: folding its events tells what holds.
 */
export function markDoubtful(
  { episodes, ranges, segments }: IndexParts,
  from: number,
  unsettled: Set<number>,
): void {
  const lost = lostLines(segments);
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
