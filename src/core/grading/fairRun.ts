import type { Gate } from './gate';
import type { GradingLimits } from './limits';
import type { Job, Reply, Runner } from './runner';

/** Share of its limit that a call gets at first, and once another call of the job has used up the whole limit. */
const hastyShare = 0.05;

/**
 * Runs all calls of a job. The first run is provisional, beside other work and with a twentieth of the time. If any call
 * times out, the whole job is run once more, beside such jobs only and with its full time, and only that run counts. A
 * score therefore does not depend on what else runs.
 * @returns one outcome for each call
 */
export async function runFairly(
  runner: Runner,
  gate: Gate,
  job: Job,
  limits: GradingLimits,
  signal?: AbortSignal,
): Promise<readonly Reply[]> {
  const hasty = { ...job, limitMilliseconds: job.limitMilliseconds * hastyShare };
  const provisional = { ...hasty, provisional: true };
  const first = await gate.together(() => runAll(runner, provisional, provisional, 1, signal));
  if (!first.some(isTimedOut)) return first;
  return gate.apart(() => runAll(runner, job, hasty, limits.timeOuts, signal));
}

/**
 * Ends when all calls have an outcome, or `timeOuts` calls have timed out. Only the first of these costs its full time,
 * so that an answer that loops on every test is soon given up.
 */
async function runAll(
  runner: Runner,
  job: Job,
  afterTimeOut: Job,
  timeOuts: number,
  signal: AbortSignal | undefined,
): Promise<readonly Reply[]> {
  const outcomes: Reply[] = [];
  while (outcomes.length < job.calls.length && outcomes.filter(isTimedOut).length < timeOuts) {
    const next = outcomes.some(isTimedOut) ? afterTimeOut : job;
    const { calls } = await runner.run({ ...next, start: outcomes.length }, signal);
    if (calls.length === 0) throw new Error('a runner gave no outcome');
    outcomes.push(...calls);
  }
  while (outcomes.length < job.calls.length) outcomes.push({ kind: 'timed-out' });
  return outcomes;
}

function isTimedOut(outcome: Reply | undefined): boolean {
  return outcome?.kind === 'timed-out';
}
