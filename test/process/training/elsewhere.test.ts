import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TrainerEvent } from '../../../src/core/training/events';
import { queueRun, removeRun, resumeRun, stopRun } from '../../../src/core/training/lifecycle';
import type { Run, Runs } from '../../../src/core/training/runs';
import { noRuns, playedRun, until } from '../../fixtures/runs';
import { standInTrainer, type Play } from '../../fixtures/trainer';

const trainer = standInTrainer();

let runs: Runs;
beforeEach(async () => {
  runs = await noRuns();
});

const start = (play: readonly Play[]): Promise<Run> => playedRun(runs, play);
const followed = (id: string): Promise<TrainerEvent[]> => Array.fromAsync(runs.follow(id));

const state = (name: string): unknown[] => ['event', { event: 'state', state: name, stage: 'critic' }];

describe('a run', () => {
  /** Moves the run to another machine that has been silent for so many minutes. */
  async function moveAway(runFolder: string, minutes: number): Promise<void> {
    const file = path.join(runFolder, 'launch.json');
    const launch = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...launch, host: 'elsewhere' }));
    await rm(path.join(runFolder, 'process.json'), { force: true });
    const heard = new Date(Date.now() - minutes * 60_000);
    for (const name of ['launch.json', 'events.jsonl'])
      await utimes(path.join(runFolder, name), heard, heard);
  }

  it('on another machine that is silent for long is lost, and taken over by who says so', async () => {
    const { id, folder: runFolder } = await start([[state('running'), ['die']], [state('done')]]);
    await followed(id);
    await moveAway(runFolder, 9);
    expect(await runs.find(id)).toMatchObject({ state: 'running', isLive: true });
    await expect(stopRun(runs, id, { atOnce: true })).rejects.toThrow('is on elsewhere');
    await moveAway(runFolder, 11);
    const lost = await runs.find(id);
    expect(lost).toMatchObject({
      state: 'lost',
      isLive: false,
      canResume: true,
      process: { host: 'elsewhere' },
    });
    expect(Date.now() - Date.parse(lost.silentSince!)).toBeGreaterThan(10 * 60_000);
    expect(await followed(id)).toHaveLength(1);
    await expect(stopRun(runs, id)).rejects.toMatchObject({ code: 'training/not-running' });
    const remove = (): Promise<void> => Promise.reject(new Error('It is removed.'));
    const refused = { code: 'training/lost' };
    await expect(resumeRun(runs, id, trainer)).rejects.toMatchObject(refused);
    await expect(queueRun(runs, id)).rejects.toMatchObject(refused);
    await expect(removeRun(runs, id, remove)).rejects.toMatchObject(refused);
    await expect(removeRun(runs, id, remove, { takeOver: true })).rejects.toThrow('It is removed.');
    await resumeRun(runs, id, trainer, { takeOver: true });
    expect(await until(runs, id, ({ isLive }) => !isLive)).toMatchObject({ state: 'done' });
  });

  it('that still writes on another machine is not taken over, whatever the clock here says', async () => {
    const { id, folder: runFolder } = await start([[state('running'), ['die']]]);
    await followed(id);
    await moveAway(runFolder, 60);
    // The clock of this machine is an hour ahead of that of the shared disk.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    onTestFinished(() => void vi.restoreAllMocks());
    await writeFile(path.join(runFolder, 'alive'), '');
    expect(await runs.find(id)).toMatchObject({ state: 'lost' });
    await expect(resumeRun(runs, id, trainer, { takeOver: true })).rejects.toThrow('still writes');
    vi.restoreAllMocks();
    expect(await runs.find(id)).toMatchObject({ state: 'running', isLive: true });
  });
});
