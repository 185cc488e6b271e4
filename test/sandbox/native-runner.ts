import { execFile } from 'node:child_process';
import { chmod, cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { descriptionForm } from '../../src/core/grading/native/bubblewrap';
import {
  createNativeRunner,
  type NativeRunner,
  type NativeRunnerOptions,
} from '../../src/core/grading/native/native';
import { pythonForTests } from '../fixtures/real-server/python';
import { plainOutcome } from '../../src/core/grading/outcome';
import type { CallOutcome, Job, Reply, Runner } from '../../src/core/grading/runner';

const grading = path.resolve(import.meta.dirname, '../../src/core/grading');

export const files = {
  scripts: path.join(grading, 'native/python'),
  evaluation: path.join(grading, 'python'),
};

/** An interpreter with numpy. */
export const python = await pythonForTests();

/** Opens a runner, or returns one sentence about what this machine lacks for these tests. */
export async function openRunner(
  required: readonly string[],
  options: Partial<NativeRunnerOptions> = {},
): Promise<{ runner: NativeRunner } | { missing: string }> {
  const runner = await createNativeRunner({ ...files, python, required, optional: [], ...options });
  return 'unavailable' in runner ? { missing: runner.unavailable } : { runner };
}

/** Returns the paths of an interpreter and of its libraries, as they are in the sandbox. */
export async function librariesOf(interpreter = python): Promise<string[]> {
  const wanted = JSON.stringify({ required: [], optional: [] });
  const command = ['-E', '-B', path.join(files.scripts, 'describe.py'), wanted];
  const { stdout } = await promisify(execFile)(interpreter, command, { cwd: '/' });
  const { executable, libraries, folders } = descriptionForm.parse(JSON.parse(stdout));
  return [executable, ...libraries, ...folders];
}

/**
 * Users that run the sandbox: the present one and, under root, also `nobody`, because other restrictions apply to it.
 */
export const users = process.getuid?.() === 0 ? (['this user', 'nobody'] as const) : (['this user'] as const);

/**
 * Returns the runner's options for a user. The user `nobody` can read only the system's Python and copies of the
 * scripts.
 * @param folder of the test
 */
export async function optionsFor(
  user: (typeof users)[number],
  folder: string,
): Promise<Partial<NativeRunnerOptions>> {
  if (user === 'this user') return {};
  await chmod(folder, 0o755);
  const [scripts, evaluation] = [path.join(folder, 'native'), path.join(folder, 'evaluation')];
  await cp(files.scripts, scripts, { recursive: true });
  await cp(files.evaluation, evaluation, { recursive: true });
  return { scripts, evaluation, python: '/usr/bin/python3', user: 65_534 };
}

/** Makes a job with a time limit that a quick call never reaches. */
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

/** Returns the values of the calls as Python prints them, or the errors. */
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
