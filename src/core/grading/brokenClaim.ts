import type { GradeOptions, Grader } from './grader';
import { equalityIn, type Equality } from '../task/python/asserts';
import type { ProgramTask } from '../task/task';

export interface BrokenClaim {
  readonly claim: string;
  /** Values as Python prints them; present where the claim is an equality and both sides could be evaluated. */
  readonly values?: { readonly call: string; readonly wanted: string; readonly got: string };
  /** The error that the function raised, or the time after which it had not ended. */
  readonly failure?: string;
}

export async function brokenClaim(
  grader: Grader,
  {
    code,
    name,
    claims,
  }: { readonly code: string; readonly name: string; readonly claims: readonly string[] },
  signal?: AbortSignal,
): Promise<BrokenClaim | undefined> {
  if (claims.length === 0) return undefined;
  const options: GradeOptions = { mode: 'fixed', ...(signal && { signal }) };
  const { tests } = await grader.grade(checkTask(claims, name), checkable(code), options);
  const index = tests.findIndex(({ status }) => status !== 'passed' && status !== 'not-gradable');
  const test = tests[index];
  if (test === undefined) return undefined;
  const claim = claims[index]!;
  if (test.status === 'error') return { claim, failure: `${test.type}: ${test.message}` };
  if (test.status === 'timed-out') return { claim, failure: `no result after ${test.limitMilliseconds} ms` };
  const equality = equalityIn(claim, name);
  if (equality === undefined) return { claim };
  const valued = await grader.grade(valueTask([equality], name), valuable(code), options);
  const [told] = valued.tests;
  if (told?.status !== 'wrong') return { claim };
  return { claim, values: { call: equality.call, wanted: told.expected, got: told.got } };
}

const CHECK = 'tandem_check';

/**
 * Makes a task that can be graded without a reference: each test asks whether a claim (the expression of an assert)
 * holds, and the reference says that all do.
 * @param name the function; the reference has it too, so that claims mean the function even if a built-in has its name
 */
export function checkTask(claims: readonly string[], name: string): ProgramTask {
  const calls = claims.map((claim) => `${CHECK}(lambda: (${claim}))`);
  return taskOf('checks', '(holds):\n    return True', calls, name);
}

function taskOf(id: string, check: string, calls: readonly string[], name: string): ProgramTask {
  const reference = `def ${CHECK}${check}\n\n\n${name} = None\n`;
  const testCases = calls.map((call, index) => ({ name: `test${index + 1}`, call }));
  return { id, description: '', reference, testCases, hiddenInformation: reference };
}

export function checkable(code: string): string {
  return `${code.trimEnd()}\n\n\ndef ${CHECK}(holds):\n    return bool(holds())\n`;
}

/** Both values are in the results, where `checkTask` only says whether an equality holds. */
export function valueTask(equalities: readonly Equality[], name: string): ProgramTask {
  const calls = equalities.map(({ call, wanted }) => `${CHECK}(lambda: (${call}), lambda: (${wanted}))`);
  return taskOf('values', '(call, wanted):\n    return wanted()', calls, name);
}

function valuable(code: string): string {
  return `${code.trimEnd()}\n\n\ndef ${CHECK}(call, wanted):\n    return call()\n`;
}
