import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { NativeRunner } from '../../../src/core/grading/native/native';
import { displays, openRunner, optionsFor, python, type users } from '../native-runner';

export interface HostileRunner {
  readonly runner: NativeRunner;
  /** The interpreter that is run. */
  readonly python: string;
  /** A folder that the user can read, removed afterwards. */
  readonly folder: string;
}

/** Opens a runner for the tests of a group, skips them where none can be opened, and runs a plain answer after each. */
export function hostileRunner(user: (typeof users)[number]): HostileRunner {
  let opened: Awaited<ReturnType<typeof openRunner>>;
  let runner: NativeRunner;
  let interpreter: string;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tandem-'));
    const options = await optionsFor(user, folder);
    interpreter = options.python ?? python;
    opened = await openRunner([], options);
    if ('runner' in opened) runner = opened.runner;
  });
  beforeEach((context) => {
    if ('missing' in opened) context.skip(opened.missing);
  });
  afterEach(async () => {
    if ('runner' in opened) {
      expect(await displays(runner, 'def f(x): return x + 1', ['f(1)', 'f(2)'])).toEqual(['2', '3']);
    }
  });
  afterAll(async () => {
    if ('runner' in opened) await opened.runner.close();
    await rm(folder, { recursive: true });
  });
  return {
    get runner() {
      return runner;
    },
    get python() {
      return interpreter;
    },
    get folder() {
      return folder;
    },
  };
}
