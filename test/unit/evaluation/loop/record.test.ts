import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { LoopRecord, type Stage } from '../../../../src/core/evaluation/loop/record';
import { temporaryFolder } from '../../../fixtures/log';

let folder: string;
/** The work that was done, in order. */
let worked: string[];

beforeEach(async () => {
  folder = await temporaryFolder();
  worked = [];
});

type Counted = Stage<{ readonly count: number }>;

const collect = (changes: Partial<Counted> = {}): Counted => ({
  name: 'collect',
  inputs: { 'the tasks': ['a', 'b'], 'the seed': 1 },
  result: z.object({ count: z.number() }),
  work: () => {
    worked.push('collect');
    return Promise.resolve({ count: 2 });
  },
  ...changes,
});

/** Performs a stage as a new command would, from the state on the disk. */
async function perform(stage: Counted) {
  const reasons: string[] = [];
  const record = await LoopRecord.open(folder);
  const done = await record.perform(stage, (reason) => reasons.push(reason));
  return { ...done, reason: reasons[0] };
}

describe('a stage of a loop', () => {
  it('is done once, and skipped by later calls with the same inputs', async () => {
    expect(await perform(collect())).toMatchObject({ isSkipped: false, result: { count: 2 } });
    expect(await perform(collect())).toMatchObject({ isSkipped: true, result: { count: 2 } });
    expect(worked).toEqual(['collect']);
  });

  it('is done again when an input changed, and says which', async () => {
    await perform(collect());
    const again = await perform(collect({ inputs: { 'the tasks': ['a', 'c'], 'the seed': 1 } }));
    expect(again).toMatchObject({ isSkipped: false, reason: 'the tasks changed' });
  });

  it('is done again when what it made is gone', async () => {
    await perform(collect());
    const again = await perform(collect({ isThere: ({ count }) => Promise.resolve(count > 2) }));
    expect(again).toMatchObject({ isSkipped: false, reason: 'what it made is gone' });
  });

  it('is done again when another version wrote its result in another form', async () => {
    await perform(collect());
    const again = await perform(collect({ result: z.object({ count: z.number().min(3) }) }));
    expect(again.isSkipped).toBe(false);
  });

  it('is not recorded when its work fails', async () => {
    const failing = collect({ work: () => Promise.reject(new Error('the power went')) });
    await expect(perform(failing)).rejects.toThrow('the power went');
    expect(await perform(collect())).toMatchObject({ isSkipped: false, reason: 'it has not been done yet' });
  });
});

describe('a record of a loop', () => {
  it('that cannot be read is refused with what to do', async () => {
    await writeFile(path.join(folder, 'loop.json'), '{"version": 1, "sta');
    await expect(LoopRecord.open(folder)).rejects.toMatchObject({
      code: 'loop/bad-record',
      message: expect.stringContaining('Delete it') as string,
    });
  });
});
