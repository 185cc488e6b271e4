import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { trained, type TrainedOptions } from '../../../../src/core/evaluation/loop/trainingStage';
import { parseConfiguration } from '../../../../src/core/training/configuration';
import { Runs } from '../../../../src/core/training/runs';
import { standInTrainer, standInValue, type Play } from '../../../fixtures/trainer';
import { temporaryFolder } from '../../../fixtures/log';

const trainer = standInTrainer();

let folder: string;
let runs: Runs;

beforeEach(async () => {
  folder = await temporaryFolder();
  runs = new Runs(path.join(folder, '.tandem'));
});

const state = (name: string, message?: string): unknown[] => [
  'event',
  { event: 'state', state: name, stage: 'policy', message },
];
const step = (number: number): unknown[] => [
  'event',
  { event: 'step', stage: 'policy', step: number, steps: 9, loss: 1, seconds_left: 70 },
];

async function ask(play: readonly Play[], options: Partial<TrainedOptions> = {}) {
  const value = standInValue(play, { name: '', method: 'rft' });
  const configuration = await parseConfiguration(value, { from: 'mine.json', folder });
  const prompts = path.resolve('trainer/tandem_trainer/data/prompts');
  return trained({ runs, configuration, key: 'rft-1a2b', trainer, prompts, ...options });
}

describe('a trained model', () => {
  it('is not there when the run failed; its last words are said', async () => {
    const failing = ask([[state('running'), state('failed', 'Memory ran out.')]]);
    await expect(failing).rejects.toMatchObject({
      code: 'loop/not-trained',
      message: expect.stringContaining('has failed: Memory ran out. Its log is') as string,
    });
  });

  it('can be given up: the run stops, and the next who asks goes on with it', async () => {
    const giveUp = new AbortController();
    const play = [
      [state('running'), step(1), ['wait for stop'], state('stopped')],
      [state('running'), state('done')],
    ];
    const asking = ask(play, {
      signal: giveUp.signal,
      onProgress: (told) => {
        if ('progress' in told && told.progress.step === 1) giveUp.abort(new Error('enough'));
      },
    });
    await expect(asking).rejects.toThrow('enough');
    expect(await runs.list()).toMatchObject([{ state: 'stopped' }]);
    const { run } = await ask([]);
    expect(run.state).toBe('done');
    await mkdir(path.join(run.folder, 'critic'));
    expect(await ask([])).toMatchObject({ run: { id: run.id }, critic: path.join(run.folder, 'critic') });
  });
});
