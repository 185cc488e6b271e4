import { isDeepStrictEqual } from 'node:util';
import type { EventOf } from './event';
import type { TrajectoryLog } from './log';

type GivenConsent = Pick<EventOf<'consent'>, 'pseudonym' | 'purpose' | 'level' | 'signals'>;

/** Logs a consent, unless the last one of this pseudonym in this data folder is the same and not doubtful. */
export async function recordConsent(log: TrajectoryLog, given: GivenConsent): Promise<void> {
  const { pseudonym, purpose, level, signals } = given;
  const { allowed } = log;
  const latest = allowed.own(pseudonym);
  const isSame =
    latest?.purpose === purpose && latest.level === level && isDeepStrictEqual(latest.signals, signals);
  if (isSame && !allowed.isDoubtful(latest)) return;
  await log.append({ event: 'consent', pseudonym, purpose, level, signals }, { durable: true });
}
