import { consentLevels, type ConsentLevel, type ConsentSignal, type EventOf } from './event';
import { isFuture, orderOf } from './segment/line';
import { developersOf, type Trajectory } from './trajectory';

/** `origin` is the data folder that it was imported from, see `imported` of a segment. */
export type Consent = Omit<EventOf<'consent'>, 'version' | 'event'> & { readonly origin?: string };

/**
 * The last consent of a pseudonym counts. If it was also given in data folders that were imported, the lowest of the last
 * ones does: neither folder can raise what was agreed to in the other.
 */
export class Consents {
  /** By pseudonym, then by origin: undefined for this data folder. */
  private readonly latest = new Map<string, Map<string | undefined, Consent>>();

  /**
   * @param lostBy the last time at which a consent may have been lost from the log, in milliseconds since 1970: a
   * consent given earlier may have been withdrawn since, and counts as `local`
   */
  constructor(
    given: Iterable<Consent>,
    private readonly lostBy = Number.NEGATIVE_INFINITY,
  ) {
    for (const consent of given) {
      const { pseudonym, origin } = consent;
      const own = this.latest.get(pseudonym) ?? new Map<string | undefined, Consent>();
      this.latest.set(pseudonym, own);
      const before = own.get(origin);
      if (before === undefined || orderOf(consent.at) >= orderOf(before.at)) own.set(origin, consent);
    }
  }

  /** The one that counts. */
  of(pseudonym: string): Consent | undefined {
    const given = [...(this.latest.get(pseudonym)?.values() ?? [])];
    return given.toSorted((one, other) => this.rank(one) - this.rank(other))[0];
  }

  /** The last one given in this data folder. */
  own(pseudonym: string): Consent | undefined {
    return this.latest.get(pseudonym)?.get(undefined);
  }

  /**
   * Undefined without a consent. A consent from before levels existed counts as `local`, because it promised that
   * nothing leaves the log.
   */
  level(pseudonym: string): ConsentLevel | undefined {
    const consent = this.of(pseudonym);
    return consent && this.levelOf(consent);
  }

  mayLeave(pseudonym: string): boolean {
    const level = this.level(pseudonym);
    return level === 'export' || level === 'export-with-edits';
  }

  /** Edits: the text before an edit or the limit, and how long each reply took. */
  mayLeaveWithEdits(pseudonym: string): boolean {
    return this.level(pseudonym) === 'export-with-edits';
  }

  /** A consent from before the signal was asked about does not name it. */
  covers(pseudonym: string, signal: ConsentSignal): boolean {
    const given = [...(this.latest.get(pseudonym)?.values() ?? [])];
    const names = (consent: Consent): boolean =>
      consent.signals?.includes(signal) === true && !this.isDoubtful(consent);
    return given.length > 0 && given.every(names);
  }

  /**
   * Undefined if the trajectory may be used. Imported rows do not tell of consent: what people wrote in them is local.
   * @param staysHere true if the rows stay on this machine, e.g. for training; such use needs any consent, but no level
   */
  whyNot(trajectory: Trajectory, staysHere: boolean): 'no consent' | 'local only' | 'doubtful' | undefined {
    const people = [...developersOf(trajectory)];
    const consents = people.map((pseudonym) => this.of(pseudonym));
    if (consents.includes(undefined) && !trajectory.started.imported) return 'no consent';
    if (staysHere || people.every((pseudonym) => this.mayLeave(pseudonym))) return undefined;
    const isLocal = consents.some((consent) => (consent?.level ?? 'local') === 'local');
    return isLocal ? 'local only' : 'doubtful';
  }

  /** True if a later consent may have been lost, or none could be later. */
  isDoubtful({ at }: Pick<Consent, 'at'>): boolean {
    const time = Date.parse(at);
    return time <= this.lostBy || isFuture(time);
  }

  private levelOf(consent: Consent): ConsentLevel {
    return this.isDoubtful(consent) ? 'local' : (consent.level ?? 'local');
  }

  private rank(consent: Consent): number {
    return consentLevels.indexOf(this.levelOf(consent));
  }
}
