/** Clocks of machines differ by less; only a wrong clock, or a forged line, is further ahead. */
const MAX_AHEAD_MS = 24 * 60 * 60_000;
/** Before Tandem: a machine at such a time has lost its clock, and does not know which lines are from the future. */
const FIRST_MS = Date.UTC(2025, 0, 1);
const LAST_WITHOUT_CLOCK_MS = Date.UTC(2100, 0, 1);

/** The latest time that a line may have, in milliseconds since 1970. @param ahead how much clocks may differ */
export function latestTime(ahead = MAX_AHEAD_MS): number {
  const now = Date.now();
  return now < FIRST_MS ? LAST_WITHOUT_CLOCK_MS : now + ahead;
}

/**
 * True for a time, in milliseconds since 1970, that no line can have been written at. Such a line keeps its place in its
 * segment, and moves no later time.
 */
export const isFuture = (time: number): boolean => time > latestTime();

/** Puts lines in order; one from the future comes before all others, so that it can be taken back. */
export function orderOf(at: string): number {
  const time = Date.parse(at);
  return isFuture(time) ? Number.NEGATIVE_INFINITY : time;
}

/** A time of lost lines, which were lost by now whatever a file says, even if it is no time at all. */
export const byNow = (time: number): number => (time <= latestTime(0) ? time : latestTime(0));
