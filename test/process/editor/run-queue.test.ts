import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseConfiguration } from '../../../src/core/training/configuration';
import { resumeRun, stopRun } from '../../../src/core/training/lifecycle';
import { Runs, type Run } from '../../../src/core/training/runs';
import { startRun } from '../../../src/core/training/start';
import type { Trainer } from '../../../src/core/training/trainer';
import { eventually } from '../../fixtures/eventually';
import { standInTrainer, standInValue } from '../../fixtures/trainer';
import { temporaryFolder } from '../../fixtures/log';
import { changeFolders, EventEmitter, window } from '../../unit/editor/vscode';

vi.mock('vscode', () => import('../../unit/editor/vscode'));

const { RunQueue } = await import('../../../src/editor/runs/queue');
const { RunWatch } = await import('../../../src/editor/runs/runWatch');

const trainer = standInTrainer();
const state = (name: string): unknown[] => ['event', { event: 'state', state: name, stage: 'critic' }];

let folder: string;
let runs: Runs;

beforeEach(async () => {
  window.showInformationMessage.mockReset().mockResolvedValue(undefined);
  folder = await temporaryFolder();
  runs = new Runs(path.join(folder, '.tandem'));
});

/** Creates a queued run. */
async function queued(name: string): Promise<Run> {
  const play = [[state('running'), ['wait for stop'], state('stopped')]];
  const value = standInValue(play, { name });
  const configuration = await parseConfiguration(value, { from: 'mine.json', folder });
  const prompts = path.resolve('trainer/tandem_trainer/data/prompts');
  const run = await startRun(runs, { configuration, trainer, prompts, examined: true, queued: true });
  onTestFinished(() =>
    stopRun(runs, run.id, { atOnce: true }).then(
      () => undefined,
      () => undefined,
    ),
  );
  return run;
}

/** Watches the runs of a shown log and of a second one, which can be removed. */
function watching() {
  const shownChanged = new EventEmitter<void>();
  const engine = { dataFolder: runs.dataFolder };
  const engines = { logs: [{ engine }], shown: { engine, onDidChange: shownChanged.event } };
  const reported: unknown[] = [];
  const watch = new RunWatch(engines as never, (error) => reported.push(error));
  onTestFinished(() => watch.dispose());
  return { watch, engines, reported };
}

/** Creates a window whose Python has, or lacks, the packages for training. */
function windowWith(isInstalled: boolean) {
  const pythonChanged = new EventEmitter<void>();
  const opening: Promise<Trainer | undefined> = Promise.resolve(trainer);
  const python = { isInstalled, opened: [] as string[], opening };
  const { watch } = watching();
  const shown: unknown[] = [];
  const environment = {
    isInstalled: () => Promise.resolve(python.isInstalled),
    openVisibly: (title: string) => {
      python.opened.push(title);
      return python.opening;
    },
    onDidChangePython: pythonChanged.event,
  };
  const queue = new RunQueue(watch, environment as never, (error) => shown.push(error));
  onTestFinished(() => queue.dispose());
  return { watch, queue, python, pythonChanged, shown };
}

describe('the queue of a window', () => {
  it('asks nobody to install anything: it tells which run waits for what, once, with a way to the question', async () => {
    const { id } = await queued('first');
    const { watch, python, shown } = windowWith(false);
    let answer: (chosen: unknown) => void = () => undefined;
    window.showInformationMessage.mockReturnValue(new Promise((resolve) => (answer = resolve)));
    await watch.look();
    await eventually(() => expect(window.showInformationMessage).toHaveBeenCalled());
    await watch.look();
    expect(window.showInformationMessage.mock.calls).toEqual([
      ['first is next in the queue, but what training needs is not installed on this machine.', 'Install…'],
    ]);
    expect(python.opened).toEqual([]);
    answer('Install…');
    await eventually(async () => expect(await runs.find(id)).toMatchObject({ isLive: true }));
    expect(python.opened).toEqual(['first: next in the queue']);
    expect(shown).toEqual([]);
  });

  it('goes on with another Python when one is named, also after it has given up', async () => {
    const { id } = await queued('first');
    const { watch, python, pythonChanged } = windowWith(false);
    await watch.look();
    await eventually(() => expect(window.showInformationMessage).toHaveBeenCalled());
    python.isInstalled = true;
    pythonChanged.fire();
    await eventually(async () => expect(await runs.find(id)).toMatchObject({ isLive: true }));
    await stopRun(runs, id, { atOnce: true });
    const next = await queued('second');
    pythonChanged.fire();
    await watch.look();
    await eventually(async () => expect(await runs.find(next.id)).toMatchObject({ isLive: true }));
    expect(python.opened).toEqual(['first: next in the queue', 'second: next in the queue']);
  });

  it('does not go on with the Python that it was opening when another one was named', async () => {
    const { id } = await queued('first');
    const { watch, python, pythonChanged, shown } = windowWith(true);
    let open: (opened: Trainer) => void = () => undefined;
    python.opening = new Promise((resolve) => (open = resolve));
    await watch.look();
    await eventually(() => expect(python.opened).toHaveLength(1));
    python.opening = Promise.resolve(trainer);
    pythonChanged.fire();
    open({ ...trainer, python: '/project/old/python' });
    await watch.look();
    await eventually(async () => expect(await runs.find(id)).toMatchObject({ isLive: true }));
    expect(python.opened).toHaveLength(2);
    expect(shown).toEqual([]);
  });
});

describe('a queue that has halted', () => {
  /** Records the halt of the queue at each change event. */
  const following = (queue: InstanceType<typeof RunQueue>): (string | undefined)[] => {
    const told: (string | undefined)[] = [];
    queue.onDidChange(() => told.push(queue.halted));
    return told;
  };

  it('says why, and goes on when a person has mended that and tries again', async () => {
    const { id, folder: runFolder } = await queued('first');
    const log = path.join(runFolder, 'trainer.log');
    await mkdir(log);
    const { watch, queue, python, shown } = windowWith(true);
    const told = following(queue);
    await watch.look();
    await eventually(() => expect(told).toEqual([expect.stringContaining('trainer.log is a folder')]));
    expect(shown).toHaveLength(1);
    await watch.look();
    expect(python.opened).toHaveLength(1);
    await rm(log, { recursive: true });
    await queue.tryAgain();
    await eventually(async () => expect(await runs.find(id)).toMatchObject({ isLive: true }));
    expect(queue.halted).toBeUndefined();
    expect(told.at(-1)).toBeUndefined();
    expect(python.opened).toEqual(['first: next in the queue', 'Starting the next run']);
  });

  it('says nothing while somebody has begun a run, and tries again when that has ended', async () => {
    const first = await queued('first');
    const log = path.join(first.folder, 'trainer.log');
    await mkdir(log);
    const { watch, queue } = windowWith(true);
    await watch.look();
    await eventually(() => expect(queue.halted).toContain('trainer.log'));
    const { id } = await queued('second');
    await resumeRun(runs, id, trainer);
    await watch.look();
    expect(queue.halted).toBeUndefined();
    await rm(log, { recursive: true });
    await stopRun(runs, id, { atOnce: true });
    await watch.look();
    await eventually(async () => expect(await runs.find(first.id)).toMatchObject({ isLive: true }));
  });

  it('has nothing to say when no run waits any more', async () => {
    const { id } = await queued('first');
    const { watch, queue, python } = windowWith(true);
    python.opening = Promise.resolve(undefined);
    await watch.look();
    await eventually(() => expect(queue.halted).toBe('Its start was canceled.'));
    await stopRun(runs, id);
    await watch.look();
    expect(queue.halted).toBeUndefined();
  });
});

it('says that there is something else when the folder of a run leaves the window', async () => {
  await queued('first');
  const { watch, engines } = watching();
  await watch.look();
  expect(watch.everywhere.all).toHaveLength(1);
  const seen: number[] = [];
  watch.onDidChange(() => seen.push(watch.everywhere.all.length));
  engines.logs = [];
  changeFolders();
  expect(seen).toEqual([0]);
});
