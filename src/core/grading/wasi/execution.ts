import vm from 'node:vm';
import { Fault, messageOf } from '../../fault';
import { readOutcome } from '../outcome';
import type { CallOutcome, Job, Reply } from '../runner';
import type { Interpreter } from './interpreter';
import { GuestExit, SleptTooLong } from './system';

/** Factor on the limit for wall time, so that a stopped call has had its limit for certain. */
const slack = 1.05;
/** Maximum factor on the limit for the wall time of a call that gets less than its share of the processor. */
const maxPatience = 32;
/**
 * Maximum number of further passes of one job. Each has the patience that the last one showed to be needed, which may
 * at most double from pass to pass.
 */
const maxRounds = 6;
/**
 * A call that was stopped by the wall clock before it had this share of its limit in processor time is run again with
 * more wall time. The share is not 1, since time passes between the clock's stop and the reading of the processor time;
 * a much lower one would make the limit depend on how busy the machine is.
 */
const fairShare = 0.98;
/** Processor time over wall time when a call was last stopped in this thread; it decides how long the next may take. */
let lastShare = 1;

class LimitPassed extends Error {}

interface Pass {
  readonly outcomes: Reply[];
  readonly stopped?: 'timed-out' | 'crashed' | 'slow';
  /** When `slow`: the multiple of its limit that a call needs on the wall clock. */
  readonly patience?: number;
}

/**
 * Runs a job. Time-outs cost their limit and nothing more, because a stopped guest is rewound instead of killed. Each
 * call's limit counts processor time, so that a busy machine does not stop an answer that is quick enough.
 */
export function execute(interpreter: Interpreter, job: Job): Reply[] {
  const outcomes: Reply[] = [];
  while (job.start + outcomes.length < job.calls.length) {
    const pass = runPass(interpreter, { ...job, start: job.start + outcomes.length });
    outcomes.push(...pass.outcomes);
    if (pass.stopped === 'timed-out') break;
  }
  return outcomes;
}

/** Sets one timer for all calls first, since starting a timer costs as much as a quick call; then one for each call. */
function runPass(interpreter: Interpreter, job: Job): Pass {
  const limit = job.limitMilliseconds * slack;
  const patience = job.provisional === true || lastShare > fairShare ? 1 : 1.2 / lastShare;
  let pass = attempt(interpreter, job, limit * patience, false);
  for (let round = 0; pass.stopped === 'slow' && round < maxRounds; round++) {
    pass = attempt(interpreter, job, limit * Math.min(pass.patience!, 2 ** (round + 1)), true);
  }
  if (pass.stopped !== 'slow') return pass;
  throw new Fault(
    'grading/no-processor-time',
    'The machine is too busy to grade: an interpreter gets next to no processor time. Try again later.',
  );
}

function attempt(interpreter: Interpreter, job: Job, wallLimit: number, timeEachCall: boolean): Pass {
  const said: Said[] = [];
  let began = performance.now();
  let processorTime = usedProcessorTime();
  const spent = (): number => usedProcessorTime() - processorTime;
  const runCall = (): void => {
    began = performance.now();
    processorTime = usedProcessorTime();
    if (said.length === 0) interpreter.prepare(guestJob(job));
    interpreter.system.startCall(Number.parseInt(job.seed, 16) + job.start + said.length);
    const text = interpreter.step();
    const used = spent();
    if (job.provisional !== true && used > job.limitMilliseconds) throw new LimitPassed();
    said.push({ text, used });
  };
  const callsLeft = (): boolean => job.start + said.length < job.calls.length;
  interpreter.rewind();
  try {
    while (callsLeft()) {
      const finished = withinTime(wallLimit, () => {
        do runCall();
        while (!timeEachCall && callsLeft());
      });
      if (finished) continue;
      const elapsed = performance.now() - began;
      // The one timer ran out, but the call that it met was not to blame.
      if (elapsed < job.limitMilliseconds) return { outcomes: [], stopped: 'slow', patience: 1 };
      if (job.provisional !== true) {
        const used = spent();
        lastShare = Math.min(1, Math.max(used / elapsed, 1 / maxPatience));
        if (used < fairShare * job.limitMilliseconds) {
          return { outcomes: [], stopped: 'slow', patience: Math.max(1, 1.3 / lastShare) };
        }
      }
      return passOf(said, { outcome: { kind: 'timed-out' }, stopped: 'timed-out' });
    }
    return passOf(said);
  } catch (error) {
    if (error instanceof SleptTooLong || error instanceof LimitPassed) {
      return passOf(said, { outcome: { kind: 'timed-out' }, stopped: 'timed-out' });
    }
    return passOf(said, { outcome: crash(error), stopped: 'crashed' });
  }
}

interface Said {
  readonly text: string;
  readonly used: number;
}

/**
 * Reads what the guest said, when the watchdog is off. The watchdog stops at any point, and a schema that is stopped
 * while it is used for the first time stays half-made for as long as the thread lives.
 */
function passOf(
  said: readonly Said[],
  end?: { outcome: CallOutcome; stopped: 'timed-out' | 'crashed' },
): Pass {
  const outcomes: Reply[] = [];
  for (const { text, used } of said) {
    try {
      outcomes.push(readOutcome(text, used));
    } catch (error) {
      return { outcomes: [...outcomes, crash(error)], stopped: 'crashed' };
    }
  }
  return end === undefined ? { outcomes } : { outcomes: [...outcomes, end.outcome], stopped: end.stopped };
}

function guestJob({ source, calls, start, mode, seed, own, imported }: Job): string {
  return JSON.stringify({ source, calls, start, split: mode === 'paper', seed, own, imported });
}

/**
 * Returns the outcome of a call that left the guest without a result. That is the code's doing, since the pass started
 * from the image.
 */
function crash(error: unknown): CallOutcome {
  if (error instanceof GuestExit) {
    return { kind: 'error', type: 'SystemExit', message: messageOf(error) };
  }
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
    return { kind: 'error', type: 'InterpreterCrash', message: `The interpreter crashed: ${error.message}.` };
  }
  if (error instanceof Fault && error.code === 'grading/tampered') {
    return { kind: 'error', type: 'InterpreterCrash', message: error.message };
  }
  throw error;
}

const watched = globalThis as typeof globalThis & { tandemWatchedAction?: () => void };
const watchedScript = new vm.Script('tandemWatchedAction()');

/**
 * Runs the action under Node's script watchdog, the only thing that stops WebAssembly from outside its thread without
 * ending the thread.
 * @returns whether it finished
 */
function withinTime(milliseconds: number, action: () => void): boolean {
  watched.tandemWatchedAction = action;
  try {
    watchedScript.runInThisContext({ timeout: Math.ceil(milliseconds) });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

/** Milliseconds of this thread. */
function usedProcessorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
