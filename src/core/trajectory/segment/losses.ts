/*
 * A line that is lost, or damaged beyond its beginning, may have deleted a dialogue, marked a leak in it, or withdrawn a
 * consent. What an earlier one of a segment puts in doubt the last one does, too, so that only the last is kept.
 */

/** What is known of the lines of a segment of which nobody can tell what they said. */
export interface Losses {
  /** The last place where there were some, before a line that can be read. */
  gap?: Gap;
  /** Lines behind the last one that can be read; their time is known once all of the file was read. */
  open?: Gap & { isAnything: boolean; isConsent: boolean };
  /** The last time at which a consent may have been lost, in milliseconds since 1970. */
  consentsBy?: number;
  /** As `consentsBy`, for whatever was lost before the segment was rewritten, as its first line says. */
  lostBy?: number;
}

export interface Gap {
  /** In bytes: events of the segment stand behind the gap from here on. */
  readonly offset: number;
  /** The lines were written at this time or before, in milliseconds since 1970. */
  at: number;
}

/** The last time that a `Date` knows. */
const FOREVER = 8.64e15;

/** Takes note of a line that cannot be read. @param what it may have been */
export function lose(losses: Losses, offset: number, what: 'anything' | 'consent'): void {
  losses.open ??= { offset, at: FOREVER, isAnything: false, isConsent: false };
  losses.open[what === 'consent' ? 'isConsent' : 'isAnything'] = true;
}

/**
 * Takes note of a line that can be read, behind others that cannot or that are lost.
 * @param isAfterGap whether the numbers tell that others stood before it of which nobody can tell what they said;
 * undefined where there are no numbers
 */
export function readAgain(losses: Losses, isAfterGap: boolean | undefined, offset: number, at: number): void {
  const { open } = losses;
  delete losses.open;
  if (isAfterGap ?? open?.isAnything) losses.gap = { offset, at };
  else if (open?.isConsent) losses.consentsBy = at;
}
