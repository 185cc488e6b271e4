import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { continueRun } from '../../../src/core/training/continue';
import { stopRun } from '../../../src/core/training/lifecycle';
import { beginNext } from '../../../src/core/training/queue';
import { KEPT_GB } from '../../../src/core/training/runFolder';
import { changeNotes } from '../../../src/core/training/runNotes';
import type { Run, Runs } from '../../../src/core/training/runs';
import { noRuns, playedRun } from '../../fixtures/runs';
import { standInTrainer } from '../../fixtures/trainer';

const trainer = standInTrainer();

let runs: Runs;
let done: Run;

const step = (number: number): unknown[] => [
  'event',
  { event: 'step', stage: 'policy', step: number, steps: 2, loss: 1 },
];
const state = (name: string): unknown[] => ['event', { event: 'state', state: name, stage: 'export' }];

beforeEach(async () => {
  runs = await noRuns();
  const play = [
    [
      step(1),
      step(2),
      ['file', 'model/config.json', '{}'],
      ['file', 'kept/000002-policy-2/checkpoint.json', 'where it stood'],
      ['file', 'candidates/1.jsonl', 'sampled'],
      state('done'),
    ],
    [step(3), state('done')],
  ];
  done = await playedRun(runs, play, { fields: { policy: { epochs: 2 } }, examined: true });
  for await (const event of runs.follow(done.id)) expect(event.version).toBe(1);
});

describe('a run that is done', () => {
  it('is continued by another, which has everything but what is its own and waits for its turn', async () => {
    await changeNotes(done.folder, () => ({ name: 'called otherwise', tags: ['baseline'] }));
    await mkdir(path.join(done.folder, 'evaluations'));
    const own = ['evaluations/0123.json', 'tracked.json', 'told.json', 'alive'];
    await Promise.all(own.map((file) => writeFile(path.join(done.folder, file), '{}')));
    const run = await continueRun(runs, done.id, { epochs: 1.5, name: 'more' });
    expect(run.tags).toBeUndefined();
    expect(run).toMatchObject({ name: 'more', state: 'queued', progress: { latest: { step: 2 } } });
    const files = (await readdir(run.folder)).sort();
    expect(files).toEqual(
      ['candidates', 'checkpoints', 'events.jsonl', 'launches', 'queued.json', 'run.json'].sort(),
    );
    const kept = path.join(run.folder, 'checkpoints', '000002-policy-2', 'checkpoint.json');
    expect(await readFile(kept, 'utf8')).toBe('where it stood');
    const configuration: unknown = JSON.parse(await readFile(path.join(run.folder, 'run.json'), 'utf8'));
    expect(configuration).toMatchObject({ policy: { epochs: 2, more_epochs: 1.5, patience: 0 } });
    expect((await beginNext([runs], trainer))?.id).toBe(run.id);
    const steps: number[] = [];
    for await (const event of runs.follow(run.id)) if (event.event === 'step') steps.push(event.step);
    expect(steps).toEqual([1, 2, 3]);
    expect(await runs.find(run.id)).toMatchObject({ state: 'done' });
    expect(await runs.find(done.id)).toMatchObject({ state: 'done', name: 'called otherwise' });
    expect(await readdir(path.join(done.folder, 'model'))).toEqual(['config.json']);
  });

  it('is continued again for so many more', async () => {
    const run = await continueRun(runs, done.id, { epochs: 1, name: 'more' });
    await beginNext([runs], trainer);
    for await (const event of runs.follow(run.id)) expect(event.version).toBe(1);
    await mkdir(path.join(run.folder, 'kept'));
    const { folder } = await continueRun(runs, run.id, { epochs: 2, name: 'still more' });
    const configuration: unknown = JSON.parse(await readFile(path.join(folder, 'run.json'), 'utf8'));
    expect(configuration).toMatchObject({ name: 'still more', policy: { more_epochs: 3 } });
  });

  it('and has kept nothing says what is kept, and what to do', async () => {
    await rm(path.join(done.folder, 'kept'), { recursive: true });
    await expect(continueRun(runs, done.id, { epochs: 1, name: 'more' })).rejects.toMatchObject({
      code: 'training/nothing-kept',
    });
    expect(await runs.ids()).toEqual([done.id]);
    const ofTrainer = await readFile(path.resolve('trainer/tandem_trainer/run/run.py'), 'utf8');
    expect(ofTrainer).toContain(`KEPT_BYTES = ${KEPT_GB} << 30`);
  });

  it('is not continued if its method takes no more epochs', async () => {
    const { id } = await playedRun(runs, [[state('done')]], { fields: { method: 'grpo' }, examined: true });
    for await (const event of runs.follow(id)) expect(event.version).toBe(1);
    await expect(continueRun(runs, id, { epochs: 1, name: 'more' })).rejects.toThrow(
      /is one of GRPO, which takes no more epochs/,
    );
  });

  it('is not continued for no epochs at all, unless it was ended before its own', async () => {
    await expect(continueRun(runs, done.id, { epochs: 0, name: 'more' })).rejects.toMatchObject({
      code: 'training/nothing-more',
    });
    const ended = { stage: 'policy', step: 2, steps: 9 };
    const told = [
      { event: 'result', ended },
      { event: 'state', state: 'done', stage: 'export' },
    ].map((event) => `${JSON.stringify({ version: 1, at: new Date().toISOString(), ...event })}\n`);
    await appendFile(path.join(done.folder, 'events.jsonl'), told.join(''));
    await writeFile(path.join(done.folder, 'finish'), '');
    const run = await continueRun(runs, done.id, { epochs: 0, name: 'the rest' });
    expect(run.progress?.ended).toBeUndefined();
    expect(await readdir(run.folder)).not.toContain('finish');
    const configuration: unknown = JSON.parse(await readFile(path.join(run.folder, 'run.json'), 'utf8'));
    expect(configuration).toMatchObject({ policy: { epochs: 2, more_epochs: 0, patience: 0 } });
  });
});

describe('a run that got no better on held-out examples and ended early', () => {
  it('is continued for no epochs beyond the rest of its own', async () => {
    const play = [[step(1), ['file', 'kept/000001-policy-1/checkpoint.json', '{}'], state('done')]];
    const { id } = await playedRun(runs, play, { fields: { policy: { epochs: 2 } }, examined: true });
    for await (const event of runs.follow(id)) expect(event.version).toBe(1);
    const run = await continueRun(runs, id, { epochs: 0, name: 'the rest' });
    const configuration: unknown = JSON.parse(await readFile(path.join(run.folder, 'run.json'), 'utf8'));
    expect(configuration).toMatchObject({ policy: { more_epochs: 0, patience: 0 } });
  });
});

describe('a run that is not done', () => {
  it('is not continued but resumed', async () => {
    const run = await continueRun(runs, done.id, { epochs: 1, name: 'more' });
    expect(await stopRun(runs, run.id)).toMatchObject({ state: 'stopped', canResume: true });
    await writeFile(path.join(run.folder, 'kept'), '');
    await expect(continueRun(runs, run.id, { epochs: 1, name: 'again' })).rejects.toMatchObject({
      code: 'training/not-done',
    });
  });
});
