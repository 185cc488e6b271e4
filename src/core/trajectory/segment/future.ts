/** Clocks of machines differ by less; only a wrong clock, or a forged line, is further ahead. */
const MAX_AHEAD_MS = 24 * 60 * 60_000;

/**
 * True for a time, in milliseconds since 1970, that no line can have been written at. Such a line keeps its place in its
 * segment, and moves no later time.
 */
export const isFuture = (time: number): boolean => time > Date.now() + MAX_AHEAD_MS;

/** By it, lines are put in order; one from the future comes before all others, so that it can be taken back. */
export function orderOf(at: string): number {
  const time = Date.parse(at);
  return isFuture(time) ? Number.NEGATIVE_INFINITY : time;
}

/** A time of lost lines, which were lost by now whatever a file says, even if it is no time at all. */
export const byNow = (time: number): number => (time <= Date.now() ? time : Date.now());
