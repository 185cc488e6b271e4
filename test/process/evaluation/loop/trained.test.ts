import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  trained,
  type TrainedOptions,
  type TrainedProgress,
} from '../../../../src/core/evaluation/loop/trained';
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
  it('comes from a run that is made when there is none of its key, and told while it goes on', async () => {
    const told: TrainedProgress[] = [];
    const { run, model, critic } = await ask([[state('running'), step(3), state('done')]], {
      onProgress: (progress) => told.push(progress),
    });
    expect(run).toMatchObject({ name: 'rft-1a2b', state: 'done' });
    expect(model).toBe(path.join(run.folder, 'model'));
    expect(critic).toBeUndefined();
    expect(told).toContainEqual({ preparing: 'launch' });
    const steps = told.flatMap((one) => ('progress' in one ? [one.progress.step] : []));
    expect(steps).toContain(3);
  });

  it('is found again by its key, with the critic if the method has one', async () => {
    const { run } = await ask([[state('done')]]);
    await mkdir(path.join(run.folder, 'critic'));
    const again = await ask([]);
    expect(again.run.id).toBe(run.id);
    expect(again.critic).toBe(path.join(run.folder, 'critic'));
    expect(await runs.list()).toHaveLength(1);
  });

  it('is trained anew for another key', async () => {
    const { run } = await ask([[state('done')]]);
    const other = await ask([[state('done')]], { key: 'rft-3c4d' });
    expect(other.run.id).not.toBe(run.id);
  });

  it('comes from the run that died before, which goes on', async () => {
    await expect(ask([[state('running'), ['die']], [state('done')]])).rejects.toMatchObject({
      code: 'loop/not-trained',
      message: expect.stringMatching(/has died.*the same command goes on/) as string,
    });
    await ask([]);
    expect(await runs.list()).toMatchObject([{ state: 'done' }]);
  });

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
    expect((await ask([])).run.state).toBe('done');
  });
});
