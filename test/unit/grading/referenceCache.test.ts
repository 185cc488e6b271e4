import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutcomeCache } from '../../../src/core/grading/referenceCache';
import type { CallOutcome } from '../../../src/core/grading/runner';

const key = 'ab12';
const seven: CallOutcome = { kind: 'value', canonical: 'n0x7', none: false, display: '7', milliseconds: 1 };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tandem-cache-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('gives outputs to a later session', async () => {
  const place = join(folder, 'kept');
  const outputs = { calls: [seven], slowestMilliseconds: 1 };
  await new OutcomeCache(place).put(key, outputs);
  expect(await new OutcomeCache(place).get(key)).toEqual(outputs);
});

it.each<[string, CallOutcome]>([
  ['a time-out', { kind: 'timed-out' }],
  ['a crash', { kind: 'error', type: 'InterpreterCrash', message: 'The interpreter crashed.' }],
])('remembers %s for this session only', async (_what, outcome) => {
  const place = join(folder, 'passing');
  const cache = new OutcomeCache(place);
  await cache.put(key, { calls: [seven, outcome], slowestMilliseconds: 1 });
  expect(await cache.get(key)).toBeDefined();
  expect(await new OutcomeCache(place).get(key)).toBeUndefined();
});

it('says in a sentence that its folder is a file', async () => {
  const place = join(folder, 'file');
  await writeFile(place, '');
  await expect(new OutcomeCache(place).get(key)).rejects.toMatchObject({
    code: 'grading/cache-not-readable',
  });
  await expect(
    new OutcomeCache(place).put(key, { calls: [seven], slowestMilliseconds: 1 }),
  ).rejects.toMatchObject({ code: 'grading/cache-not-writable' });
});

it('says in a sentence that a folder stands where outputs are kept', async () => {
  const place = join(folder, 'folders');
  await mkdir(join(place, 'ab', `${key}.json`), { recursive: true });
  await expect(new OutcomeCache(place).get(key)).rejects.toThrow('Remove what is there');
});

it('leaves no unfinished file behind', async () => {
  const place = join(folder, 'tidy');
  await new OutcomeCache(place).put(key, { calls: [seven], slowestMilliseconds: 1 });
  expect(await readdir(join(place, 'ab'))).toEqual([`${key}.json`]);
});
