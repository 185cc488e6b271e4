import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { createNativeRunner, type NativeRunner } from '../../../src/core/grading/native/native';
import { pythonForTests } from '../../fixtures/real-server/python';
import { plainOutcome } from '../../../src/core/grading/outcome';
import type { CallOutcome, Job, Reply, Runner } from '../../../src/core/grading/runner';

const grading = path.resolve(import.meta.dirname, '../../../src/core/grading');

export const files = {
  scripts: path.join(grading, 'native/python'),
  evaluation: path.join(grading, 'python'),
};

/** An interpreter with numpy. */
export const python = await pythonForTests();

/** A runner, or one sentence that says what this machine lacks for these tests. */
export async function openRunner(
  required: readonly string[],
): Promise<{ runner: NativeRunner } | { missing: string }> {
  const runner = await createNativeRunner({ ...files, python, required, optional: [] });
  return 'unavailable' in runner ? { missing: runner.unavailable } : { runner };
}

export async function hasModule(name: string): Promise<boolean> {
  const code = `import importlib.util, sys; sys.exit(importlib.util.find_spec(${JSON.stringify(name)}) is None)`;
  return promisify(execFile)(python, ['-c', code]).then(
    () => true,
    () => false,
  );
}

/** A job with a time limit that a quick call never reaches. */
export function jobOf(source: string, calls: readonly string[], settings: Partial<Job> = {}): Job {
  return {
    source,
    calls,
    start: 0,
    mode: 'fixed',
    limitMilliseconds: 5_000,
    seed: '5eed',
    own: [],
    imported: [],
    ...settings,
  };
}

export async function outcomes(
  runner: Runner,
  source: string,
  calls: readonly string[],
  limitMilliseconds = 5_000,
): Promise<readonly CallOutcome[]> {
  return (await runner.run(jobOf(source, calls, { limitMilliseconds }))).calls.map(plainOutcome);
}

/** The values of the calls as Python prints them, or what went wrong instead. */
export async function displays(runner: Runner, source: string, calls: readonly string[]): Promise<string[]> {
  return (await outcomes(runner, source, calls)).map(displayOf);
}

export function displayOf(reply: Reply): string {
  const outcome = plainOutcome(reply);
  if (outcome.kind === 'value') return outcome.display;
  return outcome.kind === 'error' ? `${outcome.type}: ${outcome.message}` : outcome.kind;
}

export function canonicalOf(reply: Reply): string | null {
  const outcome = plainOutcome(reply);
  if (outcome.kind !== 'value') throw new Error(`not a value but ${displayOf(outcome)}`);
  return outcome.canonical;
}
