import { createHash } from 'node:crypto';
import type { GradingMode } from './grade';

/** Something that a test asks the source; the rest of the test is evaluated where no code of the source ran. */
export interface Question {
  /** Its place in the test. */
  readonly number: number;
  /** A Python expression. */
  readonly text: string;
  /** Variables of the test that the expression uses. */
  readonly names: readonly string[];
  /** Their values as data (python/data.py). */
  readonly values: readonly string[];
}

/** A question, and what the source gave as data. */
export interface Answered extends Question {
  readonly data: string;
}

/** An expression; questions to the source; or a test whose questions were answered, which does not ask the source. */
export type Call =
  | string
  | { readonly ask: readonly Question[] }
  | { readonly test: string; readonly level: number; readonly told: readonly Answered[] };

/** One Python source and the calls to evaluate on it, in one interpreter that nothing ran in before. */
export interface Job {
  /** Python code without a fence: a reference or an answer. */
  readonly source: string;
  /** One per test. The source is executed anew, in an empty namespace, before each. */
  readonly calls: readonly Call[];
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
  /** Names that the reference imports: a test means the same modules by them, whatever an answer means. */
  readonly imported: readonly string[];
  /** The caller checks a time-out again, alone: wall time will do as the limit. */
  readonly provisional?: boolean;
}

/** A test that compares what the source gives with a value that does not depend on it. */
export interface Comparison {
  /** The side that asks the source something. */
  readonly call: string;
  /** Canonical text of what it gives. */
  readonly gave: string;
  /** Whether both sides are the same value here. */
  readonly equal: boolean;
  /** The other side. */
  readonly with: { readonly canonical: string; readonly display: string };
}

/** How a test is evaluated in two interpreters; see decision.ts. */
export interface Decision {
  /** A Python expression: the test, or the side of it that asks the source. */
  readonly test: string;
  /** What counts as a question; see python/questions.py. */
  readonly level: number;
  /** The reference was asked these, one after the other. */
  readonly questions: readonly Question[];
}

/** What one expression gave. */
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
      /** The call decides something by itself: an answer that knows nothing may get its outcome right. */
      readonly decides?: true;
      /** Only of a reference: how answers are asked, so that none of their objects decides it. */
      readonly decision?: Decision;
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

/** What a call gave: of questions the answers, of a test the question that is still to be answered. */
export type Reply =
  | CallOutcome
  | {
      readonly kind: 'told';
      /** One for each question; after the first that is no data there are none. */
      readonly results: readonly ({ readonly data: string } | { readonly outcome: CallOutcome })[];
      readonly milliseconds: number;
    }
  | {
      readonly kind: 'need';
      /** How many answers the test has used before. */
      readonly at: number;
      readonly question: Question;
    };

/**
 * The outcomes from `start` on, in order. A time-out ends a job, and so may the death of the interpreter: then the last
 * outcome is `timed-out` or an `error` that says what happened, and calls are left over; the grader decides whether to
 * run the rest as a new job.
 */
export interface JobOutcome {
  readonly calls: readonly Reply[];
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
