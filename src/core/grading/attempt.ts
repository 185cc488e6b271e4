import type { Gate } from './gate';
import type { GradingLimits } from './limits';
import type { CallOutcome, Job, Runner } from './runner';

/**
 * Runs all calls of a job. The first time is provisional, beside other work and with half the time; if any call times
 * out, the whole job is run once more, alone and with all its time, and only that counts. So a score does not depend on
 * what else runs.
 * @returns one outcome for each call
 */
export async function runFairly(
  runner: Runner,
  gate: Gate,
  job: Job,
  limits: GradingLimits,
  signal?: AbortSignal,
): Promise<readonly CallOutcome[]> {
  const hasty = { ...job, limitMilliseconds: job.limitMilliseconds / 2, provisional: true };
  const first = await gate.together(() => runAll(runner, hasty, 1, signal));
  if (first.every(({ kind }) => kind !== 'timed-out')) return first;
  return gate.alone(() => runAll(runner, job, limits.timeOuts, signal));
}

/** Runs a job, and what a time-out left of it, until it is done or has timed out on `timeOuts` calls. */
async function runAll(
  runner: Runner,
  job: Job,
  timeOuts: number,
  signal: AbortSignal | undefined,
): Promise<CallOutcome[]> {
  const outcomes: CallOutcome[] = [];
  let timedOut = 0;
  while (outcomes.length < job.calls.length && timedOut < timeOuts) {
    const { calls } = await runner.run({ ...job, start: outcomes.length }, signal);
    if (calls.length === 0) throw new Error('a runner gave no outcome');
    outcomes.push(...calls);
    if (calls.at(-1)?.kind === 'timed-out') timedOut++;
  }
  while (outcomes.length < job.calls.length) outcomes.push({ kind: 'timed-out' });
  return outcomes;
}
