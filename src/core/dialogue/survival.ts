import { diffArrays } from 'diff';
import { Fault } from '../fault';
import { functionNamed, functionText, isStub } from '../task/python/functions';
import type { EventOf } from '../trajectory/event';
import type { Claim, TrajectoryLog } from '../trajectory/log';
import { trimmedLines } from '../text';

/** The time grows with the square of the lines. */
const MAX_LINES = 2_000;

/**
 * Fraction of the lines of accepted code that the present code has, in their order, 0 to 1. Blank lines and white space
 * at either end of a line do not count, so that moving code changes nothing.
 */
export function survival(accepted: string, now: string): number {
  const before = linesOf(accepted);
  const after = linesOf(now);
  return before.length === 0 ? 1 : commonLines(before, after) / before.length;
}

const linesOf = (code: string): string[] => trimmedLines(code).slice(0, MAX_LINES);

function commonLines(one: string[], other: string[]): number {
  const kept = diffArrays(one, other).filter(({ added, removed }) => !added && !removed);
  return kept.reduce((sum, { count }) => sum + count, 0);
}

/**
 * The function as it stands in its file. Undefined if it is gone or still a stub, or holds a secret or an e-mail address:
 * a model may repeat what it is trained on.
 */
export async function functionNow(source: string, name: string, near?: number): Promise<string | undefined> {
  const there = functionNamed(source, name, near);
  if (there === undefined || isStub(source, there)) return undefined;
  const code = functionText(source, there);
  const { spansIn } = await import('../trajectory/findings/scanner');
  return (await spansIn(code)).length === 0 ? code : undefined;
}

type Survived = Pick<EventOf<'outcome'>, 'outcome' | 'survived' | 'milliseconds' | 'code' | 'by'>;

/**
 * Every window on the folder measures it; the first one logs it, once for each time it was accepted and measured.
 * @param due milliseconds after which the measurement was due; an earlier one does not count for it
 */
export async function logSurvived(
  log: TrajectoryLog,
  episode: string,
  survived: Survived,
  due: number,
): Promise<void> {
  let claim: Claim;
  try {
    claim = await log.claim(`outcome-${episode}`, 'What became of this answer');
  } catch (error) {
    // Another window is logging it at the moment.
    if (error instanceof Fault && error.code === 'trajectory/claimed') return;
    throw error;
  }
  try {
    const before = (await log.trajectory(episode))?.outcome;
    if (before?.survived !== undefined && (before.milliseconds ?? 0) >= due) return;
    await log.append({ event: 'outcome', episode, ...survived }, { durable: true });
  } finally {
    await claim.release();
  }
}
