/**
 * Method of scoring an answer. `fixed`: Python's real semantics. `paper`: the scoring of the published grader, faults
 * included, for comparison with published figures.
 */
export type GradingMode = 'fixed' | 'paper';

/** What the reward of a page measures. */
export interface PageMeasure {
  /** `structure`, or `checks`; in mode `paper` `clip`, or `clip-int8` by quantized weights. */
  readonly measure: string;
  readonly version: number;
  /** 0 to 1. */
  readonly score: number;
  readonly parts: Readonly<Record<string, number>>;
  /** Score of each message that had a page, in their order. */
  readonly drafts: readonly { readonly turn: number; readonly score: number }[];
  /** `none` for checks, which are decided without drawing. */
  readonly renderer: string;
}

export type TestResult =
  | { readonly status: 'passed'; readonly milliseconds: number }
  /** Values as Python would print them, shortened. */
  | {
      readonly status: 'wrong';
      readonly expected: string;
      readonly got: string;
      readonly milliseconds: number;
    }
  /** `line` counts from 1 in the answer's code; absent when the fault is not in the answer's own lines. */
  | {
      readonly status: 'error';
      readonly type: string;
      readonly message: string;
      readonly line?: number;
    }
  | { readonly status: 'timed-out'; readonly limitMilliseconds: number }
  /** Nothing is known about the answer: e.g. numpy is missing here, or the reference fails on this test. */
  | { readonly status: 'not-gradable'; readonly reason: string };

/**
 * Version of the grader; raise it when the same answer could get another grade than before. Grades in the log keep the
 * version that gave them; those from before 2 have none.
 */
export const graderVersion = 4;

export interface Grade {
  /** Version of the grader that gave it; absent in grades from before there were versions, or that were imported. */
  readonly grader?: number;
  readonly mode: GradingMode;
  /** Fraction of tests passed, or the score of a page, 0 to 1; null when the answer could not be graded here. */
  readonly reward: number | null;
  /** True when all tests or checks passed; null when the answer could not be graded here, and of a page without checks. */
  readonly success: boolean | null;
  readonly tests: readonly TestResult[];
  /** Number of tests on which the reference itself gives nothing to compare with; absent when there are none. */
  readonly referenceFailures?: number;
  /** Reason in one sentence why `reward` is null. */
  readonly notGradable?: string;
  readonly page?: PageMeasure;
}

/** Undefined when the answer could not be graded here. */
export type Verdict = 'passed' | 'partial' | 'failed' | undefined;

export function verdictOf({ reward, success }: Pick<Grade, 'reward' | 'success'>): Verdict {
  if (reward === null) return undefined;
  if (success === true) return 'passed';
  return reward > 0 ? 'partial' : 'failed';
}
