import { createHash } from 'node:crypto';
import type { GradingMode } from './grade';

/** A question that a test asks the source; the rest of the test is evaluated where no code of the source ran. */
export interface TestQuestion {
  readonly number: number;
  readonly text: string;
  readonly names: readonly string[];
  /** Their values as data (python/data.py). */
  readonly values: readonly string[];
}

/** A question with the data that the source gave. */
export interface AnsweredQuestion extends TestQuestion {
  readonly data: string;
}

/**
 * An expression; questions to the source; or a test with the answers to its questions, which does not ask the source.
 */
export type Call =
  | string
  | { readonly ask: readonly TestQuestion[] }
  | { readonly test: string; readonly level: number; readonly told: readonly AnsweredQuestion[] };

/** One Python source and the calls to evaluate on it, in one interpreter that nothing ran in before. */
export interface Job {
  /** Python code without a fence: a reference or an answer. */
  readonly source: string;
  /** One call per test. The source is executed again, in an empty namespace, before each. */
  readonly calls: readonly Call[];
  readonly start: number;
  /** `fixed`: the source is a module. `paper`: globals and locals are two dictionaries, as in the published grader. */
  readonly mode: GradingMode;
  /** Limit of one call in milliseconds; CPU time where the runner can measure it. */
  readonly limitMilliseconds: number;
  /** Hexadecimal, at most 12 digits; random numbers of the code depend only on it and on the call's index. */
  readonly seed: string;
  /** Names that the source has to define: in a call they mean the source's even where a built-in has that name. */
  readonly own: readonly string[];
  /** Names that the reference imports: in a test they mean the same modules, whatever they mean in an answer. */
  readonly imported: readonly string[];
  /** True when the caller checks a time-out again, alone; wall time will then do as the limit. */
  readonly provisional?: boolean;
}

/** A test that compares what the source gives with a value that does not depend on it. */
interface ComparedSides {
  /** The side that asks the source something. */
  readonly call: string;
  /** Canonical text. */
  readonly gave: string;
  /** True when both sides are equal for the reference. */
  readonly equal: boolean;
  readonly with: { readonly canonical: string; readonly display: string };
}

/** The way in which a test is evaluated in two interpreters; see decision.ts. */
interface TestDecision {
  /** A Python expression: the test, or the side of it that asks the source. */
  readonly test: string;
  /** See python/questions.py. */
  readonly level: number;
  readonly questions: readonly TestQuestion[];
}

export type CallOutcome =
  | {
      readonly kind: 'value';
      /** `areEqual` compares it; null for what equals nothing (NaN, custom classes, oversize values). */
      readonly canonical: string | null;
      readonly none: boolean;
      /** Python's repr, shortened. */
      readonly display: string;
      /** Processor time where the runner can measure it, so that a busy machine does not change it. */
      readonly milliseconds: number;
      /** Set when the call says no more than whether something holds. */
      readonly compared?: true;
      /** Set when the call says that two sides are equal, or are not, and one of them asks the source something. */
      readonly comparison?: ComparedSides;
      /** Set when the call decides something by itself: an answer that knows nothing may get its outcome right. */
      readonly decides?: true;
      /** Only on a reference: how answers are asked, so that none of their objects decides the test. */
      readonly decision?: TestDecision;
    }
  | {
      readonly kind: 'error';
      readonly type: string;
      readonly message: string;
      /** Line within the job's source, from 1; absent when the fault is elsewhere. */
      readonly line?: number;
      /** Top-level name of the module that this interpreter lacks, when that is the error. */
      readonly missingModule?: string;
    }
  | { readonly kind: 'timed-out' };

/** Result of a call: the answers to questions; of a test, its outcome or the question that is still to be answered. */
export type Reply =
  | CallOutcome
  | {
      readonly kind: 'told';
      /** One result for each question; there are none after the first that is no data. */
      readonly results: readonly ({ readonly data: string } | { readonly outcome: CallOutcome })[];
      readonly milliseconds: number;
    }
  | {
      readonly kind: 'need';
      /** Number of answers that the test has used before. */
      readonly at: number;
      readonly question: TestQuestion;
    };

/**
 * Outcomes from `start` on, in order. A time-out ends a job, and so may the death of the interpreter: then the last
 * outcome is `timed-out` or an `error` that says what happened, and calls are left over; the grader decides whether to
 * run the rest as a new job.
 */
export interface JobOutcome {
  readonly calls: readonly Reply[];
}

/**
 * Runs untrusted Python. Jobs may be given at the same time; the runner queues what it cannot run yet. Nothing of a job
 * is left for the next one.
 */
export interface Runner {
  readonly width: number;
  /** Part of the cache key of reference outputs; it changes whenever the same job could give another outcome. */
  readonly version: string;
  /**
   * @throws Fault when the runner itself is broken, never for what the source does
   * @throws the signal's reason when it is aborted; the job is stopped then
   */
  run(job: Job, signal?: AbortSignal): Promise<JobOutcome>;
  close(): Promise<void>;
}

/** A reference and all its answers draw the same random numbers. */
export function seedOf(calls: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(calls)).digest('hex').slice(0, 12);
}
