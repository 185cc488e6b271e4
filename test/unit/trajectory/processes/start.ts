import { build } from 'esbuild';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** A child that runs one of the programs of this folder. */
export interface Child {
  readonly process: ChildProcess;
  /** Its output so far. */
  output: string;
  readonly errors: () => string;
  /** Resolves with the exit code, null after a signal. */
  readonly ended: Promise<number | null>;
}

/**
 * Bundles a program of this folder once for all tests of a file; returns a function that starts it.
 * @param limit shell command for its limits, e.g. `ulimit -f 8`
 * @param host name of the machine that the program finds itself on, by default this one; Linux only
 */
export function program(
  name: 'append' | 'claim' | 'erase' | 'fill',
  limit = '',
  host?: string,
): (...args: readonly string[]) => Child {
  let folder: string | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tandem-program-'));
    await build({
      entryPoints: [join(import.meta.dirname, `${name}.ts`)],
      outfile: join(folder, 'program.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    });
  });
  afterAll(() => rm(folder!, { recursive: true, force: true }));
  const before = host === undefined ? limit : `hostname ${host}; ${limit || ':'}`;
  const inside = host === undefined ? [] : ['unshare', '--user', '--map-root-user', '--uts', '--mount'];
  return (...args) => start(inside, before, [join(folder!, 'program.mjs'), ...args]);
}

function start(inside: readonly string[], before: string, args: readonly string[]): Child {
  const command = [process.execPath, ...args];
  const shell = before === '' ? command : ['sh', '-c', `${before}; exec "$0" "$@"`, ...command];
  const [file, ...rest] = [...inside, ...shell];
  const process_ = spawn(file!, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  const child: Child = {
    process: process_,
    output: '',
    errors: () => errors,
    ended: once(process_, 'close').then(([code]) => code as number | null),
  };
  process_.stdout.setEncoding('utf8').on('data', (text: string) => (child.output += text));
  process_.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  return child;
}

export async function kill(child: Child): Promise<void> {
  child.process.kill('SIGKILL');
  await child.ended;
}

/** Waits until the child has printed something that matches. */
export async function printed(child: Child, pattern: RegExp): Promise<void> {
  while (!pattern.test(child.output)) {
    if (child.process.exitCode !== null) {
      // Its last output may still be in the pipe.
      await child.ended;
      if (pattern.test(child.output)) return;
      throw new Error(`The program ended early: ${child.errors()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
