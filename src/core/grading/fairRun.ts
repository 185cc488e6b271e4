import type { Gate } from './gate';
import type { GradingLimits } from './limits';
import type { Job, Reply, Runner } from './runner';

/**
 * Runs all calls of a job. The first run is provisional, beside other work and with half the time. If any call times
 * out, the whole job is run once more, alone and with its full time, and only that run counts. A score therefore does
 * not depend on what else runs.
 * @returns one outcome for each call
 */
export async function runFairly(
  runner: Runner,
  gate: Gate,
  job: Job,
  limits: GradingLimits,
  signal?: AbortSignal,
): Promise<readonly Reply[]> {
  const hasty = { ...job, limitMilliseconds: job.limitMilliseconds / 2, provisional: true };
  const first = await gate.together(() => runRest(runner, hasty, [], 1, signal));
  const suspect = first.findIndex(isTimedOut);
  if (suspect < 0) return first;
  return gate.alone(() => runAlone(runner, job, suspect, limits.timeOuts, signal));
}

/**
 * Runs the job with nothing beside it, with one exception: when a worker is free, the calls behind the suspect one are
 * run at the same time, so that an answer that loops on every test takes one limit instead of two to give up.
 */
async function runAlone(
  runner: Runner,
  job: Job,
  suspect: number,
  timeOuts: number,
  signal: AbortSignal | undefined,
): Promise<readonly Reply[]> {
  const next = suspect + 1;
  const ahead = timeOuts > 1 && runner.width > 1 && next < job.calls.length;
  const [head, tail] = await Promise.all([
    runner.run({ ...job, start: 0 }, signal),
    ahead ? runner.run({ ...job, start: next }, signal) : undefined,
  ]);
  const asExpected = head.calls.length === next && isTimedOut(head.calls.at(-1));
  const known = asExpected && tail !== undefined ? [...head.calls, ...tail.calls] : head.calls;
  return runRest(runner, job, known, timeOuts, signal);
}

/** Ends when all calls have an outcome, or `timeOuts` calls have timed out. */
async function runRest(
  runner: Runner,
  job: Job,
  known: readonly Reply[],
  timeOuts: number,
  signal: AbortSignal | undefined,
): Promise<readonly Reply[]> {
  const outcomes = [...known];
  while (outcomes.length < job.calls.length && outcomes.filter(isTimedOut).length < timeOuts) {
    const { calls } = await runner.run({ ...job, start: outcomes.length }, signal);
    if (calls.length === 0) throw new Error('a runner gave no outcome');
    outcomes.push(...calls);
  }
  while (outcomes.length < job.calls.length) outcomes.push({ kind: 'timed-out' });
  return outcomes;
}

function isTimedOut(outcome: Reply | undefined): boolean {
  return outcome?.kind === 'timed-out';
}
