import type { Grade, GradingMode, TestResult } from './grade';
import { lacking } from './modules';
import { referenceFailures } from './reference';
import type { CallOutcome } from './runner';

/** What there is to judge: outcomes of the reference and of the answer, one of each for every test. */
export interface Evidence {
  readonly mode: GradingMode;
  readonly reference: readonly CallOutcome[];
  readonly answer: readonly CallOutcome[];
  readonly limitMilliseconds: number;
}

/**
 * Compares an answer with its reference. A test on which the reference itself fails says nothing about the answer: in
 * `fixed` the reward is taken over the other tests; in `paper` such a test is one that no answer passes.
 */
export function judge({ mode, reference, answer, limitMilliseconds }: Evidence): Grade {
  const failures = referenceFailures(reference, mode);
  const tests = reference.map((expected, index): TestResult => {
    const reason = failures[index];
    if (reason !== undefined) return { status: 'not-gradable', reason };
    return compare(expected, answer[index]!, limitMilliseconds);
  });
  const failed = failures.filter((reason) => reason !== undefined).length;
  const unknown = answer
    .map(lacking)
    .find((name, index) => name !== undefined && failures[index] === undefined);
  if (unknown !== undefined) return notGradable(mode, tests, missingHere('answer', unknown), failed);
  const missing = reference.map(lacking).find((name) => name !== undefined);
  if (missing !== undefined) return notGradable(mode, tests, missingHere('reference', missing), failed);
  const counted = mode === 'paper' ? tests.length : tests.length - failed;
  if (counted === 0) {
    return notGradable(mode, tests, failures[0] ?? 'The task has no tests.', failed);
  }
  const passed = tests.filter(({ status }) => status === 'passed').length;
  return {
    mode,
    reward: passed / counted,
    success: passed === counted,
    tests,
    ...(failed === 0 ? {} : { referenceFailures: failed }),
  };
}

/** The sentence about something that the interpreter here does not have. */
export function missingHere(who: 'answer' | 'reference', name: string): string {
  const verb = name === 'threads' ? 'uses' : 'imports';
  return `The ${who} ${verb} ${name}, which is not available to the grader on this machine.`;
}

export function notGradable(
  mode: GradingMode,
  tests: readonly TestResult[],
  reason: string,
  failed: number,
): Grade {
  return {
    mode,
    reward: null,
    success: null,
    tests,
    notGradable: reason,
    ...(failed === 0 ? {} : { referenceFailures: failed }),
  };
}

function compare(expected: CallOutcome, got: CallOutcome, limitMilliseconds: number): TestResult {
  if (got.kind === 'timed-out') return { status: 'timed-out', limitMilliseconds };
  const unavailable = lacking(got);
  if (unavailable !== undefined)
    return { status: 'not-gradable', reason: missingHere('answer', unavailable) };
  if (got.kind === 'error') {
    const { type, message, line } = got;
    return { status: 'error', type, message, ...(line === undefined ? {} : { line }) };
  }
  if (expected.kind !== 'value') throw new Error('compared with a reference that gave no value');
  const { milliseconds } = got;
  if (got.canonical !== null && got.canonical === expected.canonical)
    return { status: 'passed', milliseconds };
  return { status: 'wrong', expected: expected.display, got: got.display, milliseconds };
}
