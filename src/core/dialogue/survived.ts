import { Fault } from '../fault';
import type { EventOf } from '../trajectory/event';
import type { Claim, TrajectoryLog } from '../trajectory/log';

export type Survived = Pick<EventOf<'outcome'>, 'outcome' | 'survived' | 'milliseconds' | 'by'>;

/**
 * Logs how much of an accepted answer is left, once for each time it was accepted, whichever window comes first: every
 * window on the folder knows of the acceptance and measures it.
 */
export async function logSurvived(log: TrajectoryLog, episode: string, survived: Survived): Promise<void> {
  let claim: Claim;
  try {
    claim = await log.claim(`outcome-${episode}`, 'What became of this answer');
  } catch (error) {
    // Another window is just logging it.
    if (error instanceof Fault && error.code === 'trajectory/claimed') return;
    throw error;
  }
  try {
    const before = (await log.trajectory(episode))?.outcome;
    if (before?.survived !== undefined) return;
    await log.append({ event: 'outcome', episode, ...survived }, { durable: true });
  } finally {
    await claim.release();
  }
}
