import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/core/training/configuration';
import type { Runs } from '../../../src/core/training/runs';
import { startRun } from '../../../src/core/training/start';
import { noRuns, playedRun } from '../../fixtures/runs';
import { standInTrainer, standInValue } from '../../fixtures/trainer';

const trainer = standInTrainer();
const done = ['event', { event: 'state', state: 'done', stage: 'critic' }];

let runs: Runs;
beforeEach(async () => {
  runs = await noRuns();
});

describe('a run that cannot be started', () => {
  const left = async (): Promise<string[]> => readdir(runs.folder).catch(() => []);

  it.each([
    ['its configuration is refused', {}, { refuse: 'model.base is missing.' }, 'training/bad-configuration'],
    ['the machine cannot train', {}, { machine: 'failed' }, 'training/unfit-machine'],
    ['there is no log', { data: { log: 'nowhere' } }, {}, 'training/no-log'],
  ])('because %s leaves nothing', async (_, fields, behaviour, code) => {
    await expect(playedRun(runs, [[]], { fields, behaviour })).rejects.toMatchObject({ code });
    expect(await left()).toEqual([]);
  });

  it('because its folder cannot be written says so', async () => {
    await writeFile(runs.dataFolder, 'a file');
    await expect(playedRun(runs, [[]])).rejects.toMatchObject({ code: 'training/not-written' });
  });

  it('because it was cancelled leaves nothing', async () => {
    const configuration = await parseConfiguration(standInValue([[]]), { from: 'mine.json', folder: '/' });
    const controller = new AbortController();
    const starting = startRun(runs, {
      ...{ configuration, trainer, prompts: path.resolve('trainer/tandem_trainer/data/prompts') },
      signal: controller.signal,
      onProgress: (what) => what === 'checks' && controller.abort(new Error('Enough.')),
    });
    await expect(starting).rejects.toThrow('Enough.');
    expect(await left()).toEqual([]);
  });

  it('because Tandem was killed over it is cleared away by the next, which leaves alone what is being prepared', async () => {
    const owner = { host: hostname(), started: new Date().toISOString(), command: [] };
    const put = async (name: string, pid: number, began: string | null): Promise<void> => {
      await mkdir(path.join(runs.folder, name), { recursive: true });
      await writeFile(
        path.join(runs.folder, name, 'preparing.json'),
        JSON.stringify({ ...owner, pid, began }),
      );
      const longAgo = new Date(Date.now() - 120_000);
      await utimes(path.join(runs.folder, name), longAgo, longAgo);
    };
    await put('killed.unfinished', 2 ** 22 + 1, '7');
    await mkdir(path.join(runs.folder, 'just-begun.unfinished'));
    const { id } = await playedRun(runs, [[done]]);
    expect((await left()).sort()).toEqual([id, 'just-begun.unfinished'].sort());
    expect((await runs.list()).map((run) => run.id)).toEqual([id]);
  });
});
