import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { childEnvironment } from '../childEnvironment';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { startLeashed } from '../leash';

/** How one test of a developer's own ended. */
export interface TestOutcome {
  /** As the runner names it; tells tests of two runs apart. */
  readonly id: string;
  /** Shorter, for people. */
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly file?: string;
  /** Where it failed, else where it begins; from 0. */
  readonly line: number;
}

/** What a run of test files gave. */
export interface TestRun {
  readonly tests: readonly TestOutcome[];
  /** Absent when the run did not come to its end: the time was over, or the interpreter died. */
  readonly runner?: 'pytest' | 'unittest';
  /** Whether the tests imported the file whose text was replaced; without that they say nothing about it. */
  readonly imported: boolean;
  readonly isTimedOut: boolean;
}

export interface TestRunOptions {
  /** The interpreter. */
  readonly python: string;
  /** `run_tests.py`. */
  readonly script: string;
  /** The working directory. */
  readonly folder: string;
  /** Test files, absolute. */
  readonly files: readonly string[];
  /** A module that is imported from this text instead of from its file. */
  readonly module: { readonly file: string; readonly text: string };
  readonly limitMilliseconds: number;
  readonly signal: AbortSignal;
  /** Hears what the tests print. */
  readonly print: (text: string) => void;
}

const testSchema = lazily(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    outcome: z.enum(['passed', 'failed', 'skipped']),
    file: z.string().nullish(),
    line: z.number().int().nonnegative(),
  }),
);
const endSchema = lazily(() => z.object({ runner: z.enum(['pytest', 'unittest']), imported: z.boolean() }));

/**
 * Runs test files with a developer's own interpreter, as the developer would: what they do is not kept in. Nothing is
 * written into the folder of the tests.
 * @throws {Fault} `testing/no-python` when the interpreter cannot be started
 * @throws the signal's reason when it is aborted
 */
export async function runTests(options: TestRunOptions): Promise<TestRun> {
  const { python, script, folder, files, module, limitMilliseconds, signal, print } = options;
  signal.throwIfAborted();
  const own = await mkdtemp(path.join(os.tmpdir(), 'tandem-tests-'));
  const [job, results] = [path.join(own, 'job.json'), path.join(own, 'results.jsonl')];
  try {
    const { file, text } = module;
    const told = { folder, files, module: file, text, results, cache: path.join(own, 'cache') };
    await writeFile(job, JSON.stringify(told));
    const limit = AbortSignal.timeout(limitMilliseconds);
    const status = await ended([python, script, job], folder, AbortSignal.any([signal, limit]), print);
    signal.throwIfAborted();
    // What a shell reports of a command that is not there, or is none.
    if (status === 127 || status === 126) {
      throw new Fault(
        'testing/no-python',
        `The Python ${python} could not be started. Choose another interpreter for this folder.`,
      );
    }
    return { ...(await outcomesIn(results)), isTimedOut: limit.aborted };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** @returns the status of the command; null when it was killed, or could not be started */
function ended(
  command: readonly string[],
  cwd: string,
  signal: AbortSignal,
  print: (text: string) => void,
): Promise<number | null> {
  const env = childEnvironment('python', 'computing');
  const { child, forget } = startLeashed(command, { cwd, env, signal });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', print);
  return new Promise((resolve) => {
    child.once('error', () => {
      forget();
      resolve(127);
    });
    child.once('close', (status) => {
      forget();
      resolve(status);
    });
  });
}

async function outcomesIn(file: string): Promise<Omit<TestRun, 'isTimedOut'>> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const tests: TestOutcome[] = [];
  let end: z.infer<ReturnType<typeof endSchema>> | undefined;
  for (const line of lines) {
    const read = parsed(line);
    const test = testSchema().safeParse(read).data;
    end ??= endSchema().safeParse(read).data;
    if (test === undefined) continue;
    const { file: where, ...rest } = test;
    tests.push(typeof where === 'string' ? { ...rest, file: where } : rest);
  }
  return { tests, imported: end?.imported ?? false, ...(end && { runner: end.runner }) };
}

/** Undefined for a line that was cut off when the run was ended. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
