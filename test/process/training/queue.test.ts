import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { queueRun, resumeRun, stopRun } from '../../../src/core/training/lifecycle';
import { beginNext } from '../../../src/core/training/queue';
import { Runs, type Run } from '../../../src/core/training/runs';
import { noRuns, playedRun, until } from '../../fixtures/runs';
import { standInTrainer } from '../../fixtures/trainer';

const trainer = standInTrainer();

let folder: string;
let runs: Runs;

beforeEach(async () => {
  runs = await noRuns();
  folder = path.dirname(runs.dataFolder);
});

const state = (name: string): unknown[] => ['event', { event: 'state', state: name, stage: 'critic' }];
const untilStopped = [state('running'), ['wait for stop'], state('stopped')];

/** Creates a queued run that trains until it is stopped whenever it gets its turn. */
const queued = (name: string, log = runs): Promise<Run> =>
  playedRun(log, [untilStopped, untilStopped], { fields: { name }, examined: true, queued: true });

const running = ({ id }: Run): Promise<Run> => until(runs, id, ({ state }) => state === 'running');

const began = async (): Promise<string | undefined> => (await beginNext([runs], trainer))?.name;

describe('runs that are queued', () => {
  it('that were paused go behind those that wait', async () => {
    const paused = await queued('paused');
    expect(await began()).toBe('paused');
    await running(paused);
    await stopRun(runs, paused.id);
    const other = await queued('other');
    expect(await queueRun(runs, paused.id)).toMatchObject({
      state: 'queued',
      progress: { stage: 'critic' },
    });
    expect(await began()).toBe('other');
    await running(other);
    await stopRun(runs, other.id);
    expect(await began()).toBe('paused');
  });

  describe('in several logs', () => {
    const nowhere = (): Runs => new Runs(path.join(folder, 'never used'));
    let other: Runs;

    beforeEach(() => {
      other = new Runs(path.join(folder, 'other'));
    });

    it('begin one at a time of all of them, in the order in which they came', async () => {
      const first = await queued('first', other);
      const second = await queued('second');
      expect(second).toMatchObject({ state: 'queued', isLive: false, canResume: true });
      const logs = [runs, nowhere(), other];
      expect((await beginNext(logs, trainer))?.name).toBe('first');
      expect(await beginNext(logs, trainer)).toBeUndefined();
      await stopRun(other, first.id, { atOnce: true });
      expect((await beginNext(logs, trainer))?.name).toBe('second');
      expect(existsSync(nowhere().dataFolder)).toBe(false);
    });

    it('begin although another log cannot be written, and say so of their own', async () => {
      await queued('first');
      const theirs = await queued('second', other);
      // A file in place of the folder blocks every user, including root.
      await rm(path.join(other.dataFolder, 'claims'), { recursive: true, force: true });
      await writeFile(path.join(other.dataFolder, 'claims'), '');
      const first = await beginNext([other, runs], trainer);
      expect(first?.name).toBe('first');
      await running(first!);
      await stopRun(runs, first!.id);
      await expect(beginNext([runs, other], trainer)).rejects.toMatchObject({
        code: 'trajectory/not-written',
        message: expect.stringContaining(other.dataFolder) as string,
      });
      expect(await other.find(theirs.id)).toMatchObject({ state: 'queued' });
    });

    it('begin once when windows with some of these logs look at the same moment', async () => {
      await queued('first');
      await queued('second', other);
      const windows = [[runs, other], [other, runs], [runs, other], [runs]];
      const begun = await Promise.all(windows.map((logs) => beginNext(logs, trainer)));
      const names = begun.flatMap((run) => run?.name ?? []);
      expect(names.length).toBeLessThanOrEqual(1);
      // If each process left the run to another, the next attempt begins it.
      expect(names[0] ?? (await beginNext([runs, other], trainer))?.name).toBe('first');
      expect((await other.list()).map(({ state }) => state)).toEqual(['queued']);
    });
  });

  it('are taken out by stopping them, and can be resumed', async () => {
    const { id } = await queued('first');
    const message = expect.stringContaining('prepared and never started') as string;
    expect(await stopRun(runs, id)).toMatchObject({ state: 'stopped', canResume: true, message });
    expect(await began()).toBeUndefined();
    expect(await resumeRun(runs, id, trainer)).toMatchObject({ isLive: true });
  });

  it('do not wait any more when Tandem was killed right after it launched them', async () => {
    const { id, folder: runFolder } = await queued('first');
    const file = path.join(runFolder, 'queued.json');
    const text = await readFile(file, 'utf8');
    await running((await beginNext([runs], trainer))!);
    await writeFile(file, text);
    await stopRun(runs, id);
    expect(await runs.find(id)).toMatchObject({ state: 'stopped' });
    expect(await began()).toBeUndefined();
  });

  it('on another machine are left to its windows', async () => {
    const { folder: runFolder } = await queued('first');
    const other = { at: new Date().toISOString(), host: 'elsewhere' };
    await writeFile(path.join(runFolder, 'queued.json'), JSON.stringify(other));
    expect(await began()).toBeUndefined();
  });
});
