import type { EventOf } from './event';
import { developersOf } from './people';
import type { Trajectory } from './trajectory';

export type Consent = Omit<EventOf<'consent'>, 'version' | 'event'>;
/**
 * How far what a person writes may go: kept where it is; exported; exported with what was edited, what the reply limit
 * cut off, and how long each reply took.
 */
export const consentLevels = ['local', 'export', 'export-with-edits'] as const;
export type ConsentLevel = (typeof consentLevels)[number];

/** What people allow to be done with what they wrote. Of several consents under one pseudonym the latest counts. */
export class Consents {
  private readonly latest = new Map<string, Consent>();

  /**
   * @param lostBy the last time at which one may have been lost from the log, in milliseconds since 1970: an earlier one
   * may have been withdrawn, and counts as `local`
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

  /** Undefined without a consent. One from before there were levels promised that nothing leaves the log: `local`. */
  level(pseudonym: string): ConsentLevel | undefined {
    const consent = this.of(pseudonym);
    return consent && (this.isDoubtful(consent) ? 'local' : (consent.level ?? 'local'));
  }

  /** What a person wrote may leave this machine. */
  mayLeave(pseudonym: string): boolean {
    const level = this.level(pseudonym);
    return level === 'export' || level === 'export-with-edits';
  }

  /** And with it how it came about: what was edited, what the limit cut off, how long it took. */
  mayLeaveWithEdits(pseudonym: string): boolean {
    return this.level(pseudonym) === 'export-with-edits';
  }

  /** @param staysHere the rows are for this machine, e.g. to train on it: no export */
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
