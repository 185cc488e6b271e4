import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, onTestFailed, onTestFinished, test } from 'vitest';
import { growing, readers } from '../../fixtures/foreign-text';
import { bundled } from '../../fixtures/tasks';

/**
 * Characters of a text. Reading it takes milliseconds in linear time, and in any other time all texts together exceed
 * the limit of a test. This finds slowness that counting steps misses (steps.test.ts).
 */
const SIZE = 120_000;

let folder: string;
let script: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-foreign-text-'));
  script = await bundled('read-foreign-text.ts', folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** Readers except leak detection, which compares tokens without regular expressions and is slow even in linear time. */
const names = Object.keys(readers).filter((name) => !name.endsWith('leaks') && !name.endsWith('reference'));

test.each([
  ...names.map((name) => ['all at once', name] as const),
  ...Object.keys(growing).map((name) => ['while it arrives', name] as const),
])('%s, %s is read to its end, however large and of whatever shape', async (how, reader) => {
  const workerData = { reader, size: SIZE, arrives: how === 'while it arrives' };
  const thread = new Worker(script, { workerData });
  onTestFinished(async () => void (await thread.terminate()));
  let shape = '';
  thread.on('message', (name: string) => (shape = name));
  onTestFailed(() => console.log(`It was reading ${shape}.`));
  await once(thread, 'exit');
});
