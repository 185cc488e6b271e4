/*
 * A line that is lost, or damaged beyond its beginning, may have deleted a dialogue, marked a leak in it, or withdrawn
 * a consent. The last such line of a segment puts in doubt everything that earlier ones do, so only the last is kept.
 */

/** Lines of a segment whose content nobody can tell. */
export interface Losses {
  /** The last gap that is followed by a readable line. */
  gap?: Gap;
  /** Lost lines after the last readable one; their time is known once the whole file was read. */
  open?: Gap & { isAnything: boolean; isConsent: boolean };
  /** Latest time at which a consent may have been lost, in milliseconds since 1970. */
  consentsBy?: number;
  /** Latest time of lines lost before the segment was rewritten, according to its first line; same unit. */
  lostBy?: number;
}

export interface Gap {
  /** Byte offset: events of the segment from here on follow the gap. */
  readonly offset: number;
  /** Latest time of the lost lines, in milliseconds since 1970. */
  at: number;
}

/** The largest time of a `Date`. */
const FOREVER = 8.64e15;

/**
 * Records an unreadable line.
 * @param what kinds of events it may have been
 */
export function lose(losses: Losses, offset: number, what: 'anything' | 'consent'): void {
  losses.open ??= { offset, at: FOREVER, isAnything: false, isConsent: false };
  losses.open[what === 'consent' ? 'isConsent' : 'isAnything'] = true;
}

/**
 * Records a readable line that follows unreadable or missing ones.
 * @param isAfterGap whether the numbers show that lines before it are lost whose content nobody can tell; undefined
 * where there are no numbers
 */
export function readAgain(losses: Losses, isAfterGap: boolean | undefined, offset: number, at: number): void {
  const { open } = losses;
  delete losses.open;
  if (isAfterGap ?? open?.isAnything) losses.gap = { offset, at };
  else if (open?.isConsent) losses.consentsBy = at;
}
