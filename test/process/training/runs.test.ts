import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { TrainerEvent } from '../../../src/core/training/events';
import { resumeRun, stopRun } from '../../../src/core/training/lifecycle';
import type { Run, Runs } from '../../../src/core/training/runs';
import { environmentOf } from '../../../src/core/training/trainer';
import { noRuns, playedRun, until } from '../../fixtures/runs';
import { standInTrainer, type Play } from '../../fixtures/trainer';

const trainer = standInTrainer();

let runs: Runs;

beforeEach(async () => {
  runs = await noRuns();
});

const start = (play: readonly Play[], fields: object = {}): Promise<Run> =>
  playedRun(runs, play, { fields: { method: 'rft', ...fields } });

/** Collects all events until the run is over. */
const followed = (id: string): Promise<TrainerEvent[]> => Array.fromAsync(runs.follow(id));

/** Lets a waiting trainer continue. */
const goOn = (runFolder: string): Promise<void> => writeFile(path.join(runFolder, 'go'), '');

const state = (name: string, fields: object = {}): unknown[] => [
  'event',
  { event: 'state', state: name, stage: 'critic', ...fields },
];
const step = (number: number): unknown[] => [
  'event',
  { event: 'step', stage: 'critic', step: number, steps: 9, loss: 1, seconds_left: 70 },
];

/** Stands in for torchrun: starts the trainer again when it has died, and ends it with itself. */
const TORCHRUN = `
import signal, subprocess, sys
def end(*_):
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
while True:
    trainer = subprocess.Popen([sys.executable, "-m", "tandem_trainer", sys.argv[1]])
    try:
        trainer.wait()
    finally:
        trainer.kill()
`;

describe('a run', () => {
  it('is running from its launch on, then tells stage, step and time left, and is done when it says so', async () => {
    const { id, folder: runFolder } = await start([
      [['wait for', 'go'], state('running'), step(6), ['wait for stop'], state('done')],
    ]);
    expect(await runs.find(id)).toMatchObject({
      state: 'running',
      isLive: true,
      name: 'mine',
      method: 'rft',
      base: 'a/b',
    });
    await goOn(runFolder);
    const running = await until(runs, id, ({ progress }) => progress?.step === 6);
    expect(running).toMatchObject({
      state: 'running',
      progress: { stage: 'critic', steps: 9, secondsLeft: 70 },
    });
    await writeFile(path.join(running.folder, 'stop'), '');
    const events = await followed(id);
    expect(events.map(({ event }) => event)).toEqual(['state', 'step', 'state']);
    expect(await runs.find(id)).toMatchObject({
      state: 'done',
      isLive: false,
      canResume: false,
      lastLines: [],
    });
  });

  it('has a copy of the request for small models that ships, where its word is given', async () => {
    const { folder: runFolder } = await start([[state('done', { stage: 'export' })]], {
      data: { opening: 'short' },
    });
    const { data } = JSON.parse(await readFile(path.join(runFolder, 'run.json'), 'utf8')) as { data: object };
    expect(data).toEqual({ opening: 'data/agent.md' });
    expect(await readFile(path.join(runFolder, 'data', 'agent.md'), 'utf8')).toContain('{{description}}');
  });

  it('that is killed says its stage and its last lines, and continues when it is resumed', async () => {
    const at = state('running', { stage: 'policy-2' });
    const { id } = await start([
      [at, ['say', 'CUDA error: lost'], ['die']],
      [at, state('done', { stage: 'export' })],
    ]);
    await followed(id);
    expect(await runs.find(id)).toMatchObject({
      ...{ state: 'failed', death: 'unknown', canResume: true, lastLines: ['CUDA error: lost'] },
      progress: { stage: 'policy-2' },
    });
    await resumeRun(runs, id, trainer);
    await followed(id);
    expect(await runs.find(id)).toMatchObject({ state: 'done' });
  });

  it('that fails says why; resumed it is as if nothing had been, and what was said before is no explanation', async () => {
    const failing: Play = [
      state('running'),
      ['say', 'No space left'],
      state('failed', { message: 'The disk is full.' }),
      ['exit', 1],
    ];
    const { id, folder: runFolder } = await start([failing, [['wait for', 'go'], state('running'), ['die']]]);
    await followed(id);
    expect(await runs.find(id)).toMatchObject({
      state: 'failed',
      message: 'The disk is full.',
      lastLines: ['No space left'],
      canResume: true,
    });
    expect(await resumeRun(runs, id, trainer)).toMatchObject({ state: 'running', isLive: true });
    await goOn(runFolder);
    await followed(id);
    expect(await runs.find(id)).toMatchObject({ state: 'failed', death: 'unknown', lastLines: [] });
  });

  it('whose log is a link says so instead of writing through it, and is resumed once it is gone', async () => {
    const { id, folder: runFolder } = await start([[['die']], [state('done')]]);
    await followed(id);
    const log = path.join(runFolder, 'trainer.log');
    await rm(log);
    await symlink('/dev/full', log);
    await expect(resumeRun(runs, id, trainer)).rejects.toMatchObject({ code: 'file/not-regular' });
    await rm(log);
    await resumeRun(runs, id, trainer);
    await followed(id);
    expect(await runs.find(id)).toMatchObject({ state: 'done' });
  });

  it('is stopped by a request, and resumed', async () => {
    const stopping: Play = [state('running'), ['wait for stop'], state('stopping'), state('stopped')];
    const { id } = await start([stopping, [state('running'), state('done')]]);
    await until(runs, id, ({ state }) => state === 'running');
    expect(await stopRun(runs, id)).toMatchObject({ state: 'stopped', isLive: false });
    await expect(stopRun(runs, id)).rejects.toThrow(`The run ${id} is not running; it is stopped.`);
    await resumeRun(runs, id, trainer);
    await followed(id);
    expect(await runs.find(id)).toMatchObject({ state: 'done' });
    await expect(resumeRun(runs, id, trainer)).rejects.toThrow('is done');
  });

  it('that does not heed a request is killed when the user says so', async () => {
    const { id } = await start([[state('running'), ['wait for', 'go']]]);
    await until(runs, id, ({ state }) => state === 'running');
    const controller = new AbortController();
    const asking = stopRun(runs, id, { signal: controller.signal });
    expect(await until(runs, id, ({ request }) => request === 'stop')).toMatchObject({ isLive: true });
    controller.abort(new Error('Enough.'));
    await expect(asking).rejects.toThrow('Enough.');
    expect(await stopRun(runs, id, { atOnce: true })).toMatchObject({ state: 'stopped', canResume: true });
  });

  it('that somebody started under torchrun by hand is killed with it, and does not begin again', async () => {
    const waiting: Play = [state('running'), ['wait for', 'go']];
    const { id, folder: runFolder } = await start([[['exit', 0]], waiting, waiting]);
    await followed(id);
    await rm(path.join(runFolder, 'launch.json'));
    const torchrun = spawn(trainer.python, ['-c', TORCHRUN, path.join(runFolder, 'run.json')], {
      env: { ...environmentOf(trainer), TORCHELASTIC_RUN_ID: 'none' },
      stdio: 'ignore',
    });
    onTestFinished(() => void torchrun.kill());
    const ended = new Promise((resolve) => torchrun.once('exit', resolve));
    await until(runs, id, ({ state }) => state === 'running');
    expect(await stopRun(runs, id, { atOnce: true })).toMatchObject({ state: 'stopped', canResume: true });
    await ended;
    expect(await readFile(path.join(runFolder, 'launches'), 'utf8')).toBe('xx');
  });

  it('is launched once by two who resume it at the same moment', async () => {
    const { id, folder } = await start([
      [['die']],
      [state('running'), ['wait for stop'], state('stopped')],
      [],
    ]);
    await followed(id);
    const outcomes = await Promise.allSettled([resumeRun(runs, id, trainer), resumeRun(runs, id, trainer)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await until(runs, id, ({ state }) => state === 'running');
    await stopRun(runs, id);
    expect(await readFile(path.join(folder, 'launches'), 'utf8')).toBe('xx');
  });

  it('that was prepared and never started says so, and can be started', async () => {
    const { id, folder: runFolder } = await start([[['exit', 0]], [state('done')]]);
    await followed(id);
    for (const file of ['launch.json', 'process.json']) await rm(path.join(runFolder, file));
    expect(await runs.find(id)).toMatchObject({
      state: 'stopped',
      message: expect.stringContaining('never started') as string,
    });
    await resumeRun(runs, id, trainer);
    await followed(id);
    expect(await runs.find(id)).toMatchObject({ state: 'done' });
  });
});

describe('a run on the rows of another', () => {
  it('has a copy of them, so that the other may be deleted', async () => {
    const first = await start([[state('done')]]);
    const rows = path.join(first.folder, 'data', 'trajectories.jsonl');
    await mkdir(path.dirname(rows));
    await writeFile(rows, 'rows');
    const gone = path.join(first.folder, 'gone.jsonl');
    const second = await start([[state('done')]], {
      data: { trajectories: [gone, rows, '/elsewhere.jsonl'] },
    });
    await rm(first.folder, { recursive: true });
    const configuration: unknown = JSON.parse(await readFile(path.join(second.folder, 'run.json'), 'utf8'));
    const copy = 'data/trajectories-2.jsonl';
    expect(configuration).toMatchObject({ data: { trajectories: [gone, copy, '/elsewhere.jsonl'] } });
    expect(await readFile(path.join(second.folder, copy), 'utf8')).toBe('rows');
  });
});

describe('following a run', () => {
  it('ends when the user looks away; the run goes on', async () => {
    const { id } = await start([[state('running'), ['wait for stop'], state('stopped')]]);
    const controller = new AbortController();
    const looking = (async () => {
      for await (const event of runs.follow(id, { signal: controller.signal })) {
        expect(event.event).toBe('state');
        controller.abort(new Error('Enough.'));
      }
    })();
    await expect(looking).rejects.toThrow('Enough.');
    expect(await runs.find(id)).toMatchObject({ state: 'running', isLive: true });
  });

  it('shows every one of many thousands of events, in order', async () => {
    const steps = Array.from({ length: 20_000 }, (_, index) => step(index + 1));
    const { id } = await start([[state('running'), ...steps, state('done')]]);
    const events = await followed(id);
    const numbers = events.flatMap((event) => (event.event === 'step' ? [event.step] : []));
    expect(numbers).toEqual(steps.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ state: 'done' });
  });
});

describe('runs', () => {
  it('are listed from the newest, found by a part of their id, and none where there is no folder', async () => {
    expect(await runs.list()).toEqual([]);
    const first = await start([[state('done')]]);
    await wait(1100);
    const second = await start([[state('done')]]);
    await followed(second.id);
    expect((await runs.list()).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect((await runs.find(second.id.slice(-4))).id).toBe(second.id);
    await expect(runs.find('2')).rejects.toThrow(/may be any of .*write more of it/);
    await expect(runs.find('nothing')).rejects.toThrow(/There is no run "nothing" in .*runs/);
  });
});
