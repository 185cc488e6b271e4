import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type * as z from 'zod';
import { starterPack } from '../../fixtures/dialogue';
import { runNode, type Ended } from '../../fixtures/tasks';

/** An agent that asks before it answers, whose messages are written down. */
export const demonstration = `script:${path.resolve('samples/workspace/agents/asks-first.json')}`;

/** Runs the built command line in a process of its own. */
export const tandem = (...args: string[]): Promise<Ended> => runNode(['dist/tandem.js', ...args]);

/** Runs a command with `--json`, which must print one object and nothing else. */
export async function json<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
  const { stdout, stderr } = await tandem(...args, '--json');
  expect(stdout.trim().split('\n'), stderr).toHaveLength(1);
  return schema.parse(JSON.parse(stdout));
}

export const starterRows = async (): Promise<Record<string, string>[]> =>
  (await readFile(starterPack, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);

/** Makes a folder for the commands of a test file, which is removed after it, with a cache of their own. */
export function commandFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-cli-'));
  beforeAll(() => {
    process.env.TANDEM_CACHE = path.join(folder, 'cache');
  });
  afterAll(async () => {
    delete process.env.TANDEM_CACHE;
    await rm(folder, { recursive: true, force: true });
  });
  return {
    folder,
    /** Writes JSON lines, or lines as they are, into a file of the folder; returns its path. */
    file: async (name: string, lines: readonly unknown[]): Promise<string> => {
      const target = path.join(folder, name);
      await writeFile(
        target,
        lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
      );
      return target;
    },
    /** Returns the arguments with which `collect` and `evaluate` play six tasks into a data folder of the folder. */
    play: (data: string, ...more: string[]): string[] => [
      ...['--tasks', starterPack, '--limit', '6', '--agent', demonstration, '--simulator', 'rules'],
      ...['--data', path.join(folder, data), '--jobs', '1', ...more],
    ],
  };
}
