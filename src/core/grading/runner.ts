import { createHash } from 'node:crypto';
import type { GradingMode } from './grade';

/** One Python source and the calls to evaluate on it, in one interpreter that nothing ran in before. */
export interface Job {
  /** Python code without a fence: a reference or an answer. */
  readonly source: string;
  /** Python expressions, one per test. The source is executed anew, in an empty namespace, before each. */
  readonly calls: readonly string[];
  /** Index of the first call to evaluate; those before it are left out. */
  readonly start: number;
  /** `fixed`: the source is a module. `paper`: globals and locals are two dictionaries, as in the published grader. */
  readonly mode: GradingMode;
  /** Time one call may take, CPU time where the runner can tell, milliseconds. */
  readonly limitMilliseconds: number;
  /** Hexadecimal, at most 12 digits; what the code draws at random depends on it and on the call's index only. */
  readonly seed: string;
  /** Names that the source is to define: in a call they mean the source's even where a built-in has that name. */
  readonly own: readonly string[];
  /** The caller checks a time-out again, alone: wall time will do as the limit. */
  readonly provisional?: boolean;
}

/** A test that compares what the source gives with a value that does not depend on it. */
export interface Comparison {
  /** The side that asks the source something. */
  readonly call: string;
  /** Whether both sides are the same value here. */
  readonly equal: boolean;
  /** The other side. */
  readonly with: { readonly canonical: string; readonly display: string };
}

/** What one call gave. */
export type CallOutcome =
  | {
      readonly kind: 'value';
      /** Equal texts mean equal values; null for what equals nothing (NaN, custom classes, oversize values). */
      readonly canonical: string | null;
      /** The value was None. */
      readonly none: boolean;
      /** Python's repr, shortened. */
      readonly display: string;
      /** Processor time where the runner can tell: a busy machine does not change it. */
      readonly milliseconds: number;
      /** The call says no more than whether something holds. */
      readonly compared?: true;
      /** The call says that two sides are equal, or are not; absent when both or none of them ask the source something. */
      readonly comparison?: Comparison;
    }
  | {
      readonly kind: 'error';
      /** Name of the exception's class. */
      readonly type: string;
      /** Shortened. */
      readonly message: string;
      /** From 1, within the job's source; absent when the fault is elsewhere. */
      readonly line?: number;
      /** Top-level name of the module that this interpreter lacks, when that is the error. */
      readonly missingModule?: string;
    }
  | { readonly kind: 'timed-out' };

/**
 * The outcomes from `start` on, in order. A time-out ends a job, and so may the death of the interpreter: then the last
 * outcome is `timed-out` or an `error` that says what happened, and calls are left over; the grader decides whether to
 * run the rest as a new job.
 */
export interface JobOutcome {
  readonly calls: readonly CallOutcome[];
}

/**
 * Something that runs untrusted Python. Jobs may be given at the same time; the runner queues what it cannot run yet.
 * Nothing of a job is left for the next one.
 */
export interface Runner {
  /** Jobs that run at the same time. */
  readonly width: number;
  /** Enters the cache key of reference outputs: changes whenever the same job could give another outcome. */
  readonly version: string;
  /**
   * @throws Fault when the runner itself is broken, never for what the source does
   * @throws the signal's reason when it is aborted; the job is stopped then
   */
  run(job: Job, signal?: AbortSignal): Promise<JobOutcome>;
  close(): Promise<void>;
}

/** Seed for the jobs of a task: its reference and all its answers draw the same random numbers. */
export function seedOf(calls: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(calls)).digest('hex').slice(0, 12);
}
