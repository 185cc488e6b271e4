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
  await new OutcomeCache({ folder: place, onNotice: (sentence) => expect.fail(sentence) }).put(key, outputs);
  expect(
    await new OutcomeCache({ folder: place, onNotice: (sentence) => expect.fail(sentence) }).get(key),
  ).toEqual(outputs);
});

it.each<[string, CallOutcome]>([
  ['a time-out', { kind: 'timed-out' }],
  ['a crash', { kind: 'error', type: 'InterpreterCrash', message: 'The interpreter crashed.' }],
])('remembers %s for this session only', async (_what, outcome) => {
  const place = join(folder, 'passing');
  const cache = new OutcomeCache({ folder: place, onNotice: (sentence) => expect.fail(sentence) });
  await cache.put(key, { calls: [seven, outcome], slowestMilliseconds: 1 });
  expect(await cache.get(key)).toBeDefined();
  expect(
    await new OutcomeCache({ folder: place, onNotice: (sentence) => expect.fail(sentence) }).get(key),
  ).toBeUndefined();
});

it.each<[string, (place: string) => Promise<unknown>]>([
  ['its folder is a file', (place) => writeFile(place, '')],
  [
    'a folder stands where outputs are kept',
    (place) => mkdir(join(place, 'ab', `${key}.json`), { recursive: true }),
  ],
])('says once that %s, and goes on in memory', async (what, prepare) => {
  const place = join(folder, what);
  await prepare(place);
  const notices: string[] = [];
  const cache = new OutcomeCache({ folder: place, onNotice: (sentence) => notices.push(sentence) });
  const outputs = { calls: [seven], slowestMilliseconds: 1 };
  expect(await cache.get(key)).toBeUndefined();
  await cache.put(key, outputs);
  await cache.put('cd34', outputs);
  expect(await cache.get(key)).toEqual(outputs);
  expect(notices).toEqual([expect.stringContaining(place)]);
});

it('leaves no unfinished file behind', async () => {
  const place = join(folder, 'tidy');
  await new OutcomeCache({ folder: place, onNotice: (sentence) => expect.fail(sentence) }).put(key, {
    calls: [seven],
    slowestMilliseconds: 1,
  });
  expect(await readdir(join(place, 'ab'))).toEqual([`${key}.json`]);
});
