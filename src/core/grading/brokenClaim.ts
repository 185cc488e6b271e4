import type { GradeOptions, Grader } from './grader';
import { checkable, checkTask, valuable, valueTask } from '../task/checks';
import { equalityIn } from '../task/python/asserts';

export interface BrokenClaim {
  readonly claim: string;
  /** Values as Python prints them; present where the claim is an equality and both sides could be evaluated. */
  readonly values?: { readonly call: string; readonly wanted: string; readonly got: string };
  /** The error that the function raised, or the time after which it had not ended. */
  readonly failure?: string;
}

/**
 * @param code the function with what it needs
 * @param claims expressions that are to be true, `f(1) == 2`
 */
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
