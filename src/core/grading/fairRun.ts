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

/** Milliseconds after which work that has to be apart no longer gives way to other work. */
const patienceMilliseconds = 2_000;

interface Waiting {
  readonly begin: () => void;
  readonly since: number;
}

/**
 * Admits work: `together`, up to a number at a time, or `apart`, up to a smaller number and only beside its like. Work
 * that waits to be apart is put off while there is other work, but not for long; then all of it is done in one go.
 */
export class Gate {
  private readonly sharedQueue: Waiting[] = [];
  private readonly apartQueue: Waiting[] = [];
  private running = 0;
  private apartRunning = false;

  constructor(
    private readonly places: number,
    private readonly apartPlaces: number,
  ) {}

  together<T>(work: () => Promise<T>): Promise<T> {
    return this.admit(this.sharedQueue, work);
  }

  apart<T>(work: () => Promise<T>): Promise<T> {
    return this.admit(this.apartQueue, work);
  }

  private async admit<T>(queue: Waiting[], work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      queue.push({ begin, since: performance.now() });
      this.open();
    });
    try {
      return await work();
    } finally {
      this.running--;
      this.open();
    }
  }

  private open(): void {
    const first = this.apartQueue[0];
    const impatient = first !== undefined && performance.now() - first.since > patienceMilliseconds;
    // Once the pool has emptied for one, the others that wait to be apart follow.
    const apartNext =
      first !== undefined && (this.apartRunning || impatient || this.sharedQueue.length === 0);
    if (apartNext) {
      if (this.running > 0 && !this.apartRunning) return;
      this.apartRunning = true;
      this.begin(this.apartQueue, this.apartPlaces);
      return;
    }
    if (this.apartRunning && this.running > 0) return;
    this.apartRunning = false;
    this.begin(this.sharedQueue, this.places);
  }

  private begin(queue: Waiting[], places: number): void {
    while (queue.length > 0 && this.running < places) {
      this.running++;
      queue.shift()!.begin();
    }
  }
}

/**
 * Limits on running code; times are in milliseconds. The interpreter in WebAssembly is four to eight times
 * slower than a native one.
 */
export interface GradingLimits {
  /** Limit of an answer's call, as a multiple of the time of the reference's slowest call. */
  readonly factor: number;
  readonly floorMilliseconds: number;
  /** Highest limit of an answer's call, and the limit of a reference's call. */
  readonly ceilingMilliseconds: number;
  /** Number of calls after whose time-out an answer is given up. */
  readonly timeOuts: number;
  readonly memoryMegabytes: number;
}

export const defaultLimits: GradingLimits = {
  factor: 10,
  floorMilliseconds: 1_000,
  ceilingMilliseconds: 5_000,
  timeOuts: 2,
  memoryMegabytes: 256,
};

export function answerLimit(limits: GradingLimits, slowestReferenceCall: number): number {
  const wanted = Math.max(limits.factor * slowestReferenceCall, limits.floorMilliseconds);
  return Math.min(wanted, limits.ceilingMilliseconds);
}

/** Milliseconds beyond which a reference's call moves an answer's limit, so that it is measured alone. */
export function noticeableReferenceTime(limits: GradingLimits): number {
  return limits.floorMilliseconds / limits.factor;
}
