import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Run, Runs } from '../../../src/core/training/runs';
import type { Trainer } from '../../../src/core/training/trainer';
import type { FromWebview, StartView, ToWebview } from '../../../webview/newRun/protocol';
import { eventually } from '../../fixtures/eventually';
import { standInTrainer, standInValue } from '../../fixtures/trainer';
import { temporaryFolder } from '../../fixtures/log';
import { cancelled, EventEmitter, WebviewPanel } from '../../unit/editor/vscode';

vi.mock('vscode', () => import('../../unit/editor/vscode'));

const { NewRunPanel } = await import('../../../src/editor/runs/form/panel');
const { RunStarter } = await import('../../../src/editor/runs/queue');

let page: WebviewPanel;
beforeEach(() => {
  page = new WebviewPanel();
});

const posted = (): ToWebview[] => page.posted as ToWebview[];
const receive = (message: FromWebview): void => void page.say(message);

const lastStart = (): StartView | undefined =>
  posted().findLast((message): message is StartView => message.type === 'start');

interface Start {
  readonly configuration: unknown;
  readonly signal: AbortSignal;
  readonly end: (run: Run | undefined) => void;
  readonly fail: (error: Error) => void;
}

/** Creates a form on a log of twelve dialogues; its runs stay starting until the test ends the start. */
async function form() {
  const folder = await temporaryFolder();
  const starts: Start[] = [];
  const log = {
    valuesOf: () => [],
    count: () => ({ total: 12 }),
  };
  const never = new EventEmitter<void>().event;
  const engine = {
    ...{ onDidChangeLog: never, onDidChangeModels: never, localPlaces: [] },
    log: () => Promise.resolve(log),
    report: () => undefined,
    show: (error: unknown) => {
      throw error;
    },
  };
  const environment = {
    ...{ onDidChangePython: never, prompts: '/project/prompts', isInstalled: () => Promise.resolve(true) },
  };
  const started: Run[] = [];
  const on = {
    ...{ extension: '/extension', trainer: environment, engineOf: () => engine },
    packs: () => Promise.resolve([]),
    start: (_: Runs, configuration: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<Run | undefined>((end, fail) => starts.push({ configuration, signal, end, fail })),
    started: (_: unknown, run: Run) => started.push(run),
  };
  const values = { base: '/project/model', name: 'mine', method: 'sweet-rl' };
  const state = { dataFolder: path.join(folder, '.tandem'), values };
  new NewRunPanel(page as never, state, on as never);
  receive({ type: 'ready' });
  await eventually(() => expect(posted().some(({ type }) => type === 'show')).toBe(true));
  return { starts, started, values };
}

describe('a form that starts its run', () => {
  it('starts one, whatever is changed or pressed until that has ended', async () => {
    const { starts, started, values } = await form();
    receive({ type: 'start' });
    receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(1));
    // Background work, such as reading the data, may still report; changed settings are not shown.
    const shown = (): number => posted().filter(({ type }) => type === 'show').length;
    const before = shown();
    receive({ type: 'change', values: { ...values, name: 'another' } });
    receive({ type: 'start' });
    await new Promise(setImmediate);
    expect(starts).toHaveLength(1);
    expect(starts[0]!.configuration).toMatchObject({ name: 'mine' });
    expect(lastStart()).toMatchObject({ isStarting: true });
    expect(shown()).toBe(before);
    starts[0]!.end({ id: 'a' } as Run);
    await eventually(() => expect(started).toHaveLength(1));
  });

  it('is cancelled from the form, and then says what was changed meanwhile', async () => {
    const { starts, started, values } = await form();
    receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(1));
    receive({ type: 'change', values: { ...values, name: 'another' } });
    receive({ type: 'cancel' });
    await eventually(() => expect(starts[0]!.signal.aborted).toBe(true));
    starts[0]!.end(undefined);
    await eventually(() => expect(lastStart()).toMatchObject({ isStarting: false, problem: '' }));
    receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(2));
    expect(starts[1]!.configuration).toMatchObject({ name: 'another' });
    expect(starts[1]!.signal.aborted).toBe(false);
    expect(started).toEqual([]);
  });

  it('says why it could not be started until something is changed', async () => {
    const { starts, values } = await form();
    receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(1));
    starts[0]!.fail(new Error('The disk is full.'));
    await eventually(() => expect(lastStart()).toMatchObject({ problem: 'The disk is full.' }));
    receive({ type: 'change', values });
    expect(lastStart()).toMatchObject({ isStarting: false, problem: '' });
  });

  it('answers a start that it does not make', async () => {
    const { starts, values } = await form();
    receive({ type: 'change', values: { ...values, 'critic.beta': '0' } });
    const told = posted().length;
    receive({ type: 'start' });
    await eventually(() => expect(posted().slice(told)).toContainEqual(lastStart()));
    expect(lastStart()).toMatchObject({ isStarting: false });
    expect(starts).toEqual([]);
  });
});

describe('a start', () => {
  const trainer = standInTrainer();

  /** Creates a starter of runs with a stand-in for the launch. */
  async function starter(open: (signal: AbortSignal) => Promise<Trainer>, begin: () => Promise<void>) {
    const folder = await temporaryFolder();
    const { Runs } = await import('../../../src/core/training/runs');
    const runs = new Runs(path.join(folder, '.tandem'));
    const environment = {
      ...{ open, mayInstall: () => Promise.resolve(true) },
      prompts: path.resolve('trainer/tandem_trainer/data/prompts'),
    };
    const made = new RunStarter({} as never, environment as never, { begin } as never);
    const value = standInValue([]);
    const start = (signal?: AbortSignal) =>
      made.start(value, { from: 'mine.json', folder, runs, ...(signal && { signal }) });
    return { runs, start };
  }

  it('is the run that it made once that stands in the queue, also for who cancels it then', async () => {
    const form = new AbortController();
    const { runs, start } = await starter(
      () => Promise.resolve(trainer),
      () => {
        cancelled.fire();
        form.abort();
        return Promise.resolve();
      },
    );
    expect(await start(form.signal)).toMatchObject({ name: 'mine', state: 'queued' });
    expect(await runs.list()).toHaveLength(1);
  });
});
