import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeStarterPack } from '../../../../src/core/task/starter/worlds';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-generated-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const pack = (tasks: number) =>
  ({ world: 'functions', tasks, split: 'train', seed: 1, difficulty: 'standard' }) as const;

it('leaves no file when it is cancelled', async () => {
  const cancel = new AbortController();
  const writing = writeStarterPack(path.join(folder, 'pack.jsonl'), pack(5000), cancel.signal, () =>
    cancel.abort(),
  );
  await expect(writing).rejects.toThrow();
  expect(await readdir(folder)).toEqual([]);
});
