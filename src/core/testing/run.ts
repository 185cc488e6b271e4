import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { childEnvironment, type EnvironmentNeed } from '../childEnvironment';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { startLeashed } from '../leash';
import { jsonOrUndefined } from '../json';
import { MB, readText } from '../regularFile';

export interface TestOutcome {
  readonly id: string;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly file?: string;
  /** Line where it failed, else where it begins; counted from 0. */
  readonly line: number;
}

export interface TestRun {
  readonly tests: readonly TestOutcome[];
  /** Absent when the run did not come to its end: the time was over, or the interpreter died. */
  readonly runner?: 'pytest' | 'unittest';
  /** True when the tests imported the replaced file; otherwise they say nothing about it. */
  readonly imported: boolean;
  /** True when there were tests that only pytest can run, and no pytest. */
  readonly needsPytest: boolean;
  readonly isTimedOut: boolean;
}

export interface TestRunOptions {
  readonly python: string;
  readonly script: string;
  readonly folder: string;
  readonly files: readonly string[];
  /** A module that is imported from this text instead of from its file. */
  readonly module: { readonly file: string; readonly text: string };
  readonly limitMilliseconds: number;
  readonly signal: AbortSignal;
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
const endSchema = lazily(() =>
  z.object({ runner: z.enum(['pytest', 'unittest']), imported: z.boolean(), needsPytest: z.boolean() }),
);

/**
 * With a developer's own interpreter and without a sandbox. Nothing is written into the folder of the tests.
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
    const status = await runCommand([python, script, job], {
      cwd: folder,
      needs: ['python', 'computing'],
      signal: AbortSignal.any([signal, limit]),
      print,
    });
    signal.throwIfAborted();
    // A shell reports these of a command that is not there, or cannot be executed.
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

interface CommandOptions {
  readonly cwd: string;
  readonly needs: readonly EnvironmentNeed[];
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** @returns the status of the command; null when it was killed, 127 when it could not be started */
export function runCommand(
  command: readonly string[],
  { cwd, needs, signal, print }: CommandOptions,
): Promise<number | null> {
  const env = childEnvironment(...needs);
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
  const lines = (await readText(file, 64 * MB).catch(() => '')).split('\n').filter((line) => line !== '');
  const tests: TestOutcome[] = [];
  let end: z.infer<ReturnType<typeof endSchema>> | undefined;
  for (const line of lines) {
    const read = jsonOrUndefined(line);
    const test = testSchema().safeParse(read).data;
    end ??= endSchema().safeParse(read).data;
    if (test === undefined) continue;
    const { file: where, ...rest } = test;
    tests.push(typeof where === 'string' ? { ...rest, file: where } : rest);
  }
  const { imported, needsPytest } = end ?? { imported: false, needsPytest: false };
  return { tests, imported, needsPytest, ...(end && { runner: end.runner }) };
}

interface TestComparison {
  readonly before: TestCount;
  readonly after: TestCount;
  /** Tests that passed before and fail with the answer. */
  readonly broken: readonly TestOutcome[];
  readonly failing: readonly TestOutcome[];
}

export interface TestCount {
  readonly passed: number;
  /** Number of tests without those that were skipped. */
  readonly all: number;
}

export function countOf({ tests }: TestRun): TestCount {
  const run = tests.filter(({ outcome }) => outcome !== 'skipped');
  return { passed: run.filter(({ outcome }) => outcome === 'passed').length, all: run.length };
}

export function compareRuns(before: TestRun, after: TestRun): TestComparison {
  const passed = new Set(before.tests.filter(({ outcome }) => outcome === 'passed').map(({ id }) => id));
  const failed = new Set(after.tests.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id));
  // A test whose file can no longer be imported is not reported by its name.
  const isLost = after.tests.some(
    ({ outcome, id }) => outcome === 'failed' && !before.tests.some((one) => one.id === id),
  );
  const stillThere = new Set(after.tests.map(({ id }) => id));
  const broken = [
    ...after.tests.filter(({ id, outcome }) => outcome === 'failed' && passed.has(id)),
    ...(isLost ? before.tests.filter(({ id }) => passed.has(id) && !stillThere.has(id)) : []),
  ];
  const others = after.tests.filter(({ id }) => failed.has(id) && !passed.has(id));
  return { before: countOf(before), after: countOf(after), broken, failing: [...broken, ...others] };
}
