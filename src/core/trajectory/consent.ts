import type { ConsentLevel, EventOf } from './event';
import { developersOf, type Trajectory } from './trajectory';

export type Consent = Omit<EventOf<'consent'>, 'version' | 'event'>;

export class Consents {
  private readonly latest = new Map<string, Consent>();

  /**
   * @param lostBy the last time at which a consent may have been lost from the log, in milliseconds since 1970: a
   * consent given earlier may have been withdrawn since, and counts as `local`
   */
  constructor(
    given: Iterable<Consent>,
    private readonly lostBy = Number.NEGATIVE_INFINITY,
  ) {
    for (const consent of given) {
      const before = this.latest.get(consent.pseudonym);
      const isLater = before === undefined || Date.parse(consent.at) >= Date.parse(before.at);
      if (isLater) this.latest.set(consent.pseudonym, consent);
    }
  }

  of(pseudonym: string): Consent | undefined {
    return this.latest.get(pseudonym);
  }

  /**
   * Undefined without a consent. A consent from before levels existed counts as `local`, because it promised that
   * nothing leaves the log.
   */
  level(pseudonym: string): ConsentLevel | undefined {
    const consent = this.of(pseudonym);
    return consent && (this.isDoubtful(consent) ? 'local' : (consent.level ?? 'local'));
  }

  mayLeave(pseudonym: string): boolean {
    const level = this.level(pseudonym);
    return level === 'export' || level === 'export-with-edits';
  }

  /** Edits: the text before an edit or the limit, and how long each reply took. */
  mayLeaveWithEdits(pseudonym: string): boolean {
    return this.level(pseudonym) === 'export-with-edits';
  }

  /**
   * Undefined if the trajectory may be used.
   * @param staysHere true if the rows stay on this machine, e.g. for training; such use needs any consent, but no level
   */
  whyNot(trajectory: Trajectory, staysHere: boolean): 'no consent' | 'local only' | 'doubtful' | undefined {
    const people = [...developersOf(trajectory)];
    const consents = people.map((pseudonym) => this.of(pseudonym));
    if (consents.includes(undefined)) return 'no consent';
    if (staysHere || people.every((pseudonym) => this.mayLeave(pseudonym))) return undefined;
    const isLocal = consents.some((consent) => (consent?.level ?? 'local') === 'local');
    return isLocal ? 'local only' : 'doubtful';
  }

  private isDoubtful({ at }: Consent): boolean {
    return Date.parse(at) <= this.lostBy;
  }
}
