import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Run, Runs } from '../../../src/core/training/runs';
import type { Trainer } from '../../../src/core/training/trainer';
import type { FromWebview, StartView, ToWebview } from '../../../webview/newRun/protocol';
import { eventually } from '../../fixtures/eventually';
import { standInTrainer } from '../../fixtures/trainer';
import { temporaryFolder } from '../../fixtures/log';
import { cancelled, EventEmitter } from '../../unit/editor/vscode';

vi.mock('vscode', () => import('../../unit/editor/vscode'));

/** The page of the form: what it was told, and what it says. */
const page = vi.hoisted(() => ({
  posted: [] as ToWebview[],
  receive: undefined as unknown as (message: FromWebview) => void,
}));
vi.mock('../../../src/editor/panelPage', () => ({
  PanelPage: class {
    constructor(_: unknown, __: unknown, { receive }: { receive: typeof page.receive }) {
      page.receive = receive;
    }

    post(message: ToWebview): void {
      page.posted.push(message);
    }
  },
}));

const { NewRunPanel } = await import('../../../src/editor/runs/form/panel');
const { RunStarter } = await import('../../../src/editor/runs/starting');

beforeEach(() => {
  page.posted.length = 0;
});

const lastStart = (): StartView | undefined =>
  page.posted.findLast((message): message is StartView => message.type === 'start');

interface Start {
  readonly configuration: unknown;
  readonly signal: AbortSignal;
  readonly end: (run: Run | undefined) => void;
  readonly fail: (error: Error) => void;
}

/** A form on a log of twelve dialogues, whose runs are started until the test says how that ends. */
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
    ...{ onDidChangePython: never, prompts: '/project/prompts', isInstalled: () => Promise.resolve(false) },
  };
  const started: Run[] = [];
  const owner = {
    start: (_: Runs, configuration: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<Run | undefined>((end, fail) => starts.push({ configuration, signal, end, fail })),
    started: (_: unknown, run: Run) => started.push(run),
  };
  const values = { base: '/project/model', name: 'mine' };
  const state = { dataFolder: path.join(folder, '.tandem'), values };
  new NewRunPanel({} as never, state, engine as never, environment as never, owner as never, {} as never);
  page.receive({ type: 'ready' });
  await eventually(() => expect(page.posted.some(({ type }) => type === 'show')).toBe(true));
  return { starts, started, values };
}

describe('a form that starts its run', () => {
  it('starts one, whatever is changed or pressed until that has ended', async () => {
    const { starts, started, values } = await form();
    page.receive({ type: 'start' });
    page.receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(1));
    // What begins of itself, as the look at the data, may still be told; what is changed is not shown.
    const shown = (): number => page.posted.filter(({ type }) => type === 'show').length;
    const before = shown();
    page.receive({ type: 'change', values: { ...values, name: 'another' } });
    page.receive({ type: 'start' });
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
    page.receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(1));
    page.receive({ type: 'change', values: { ...values, name: 'another' } });
    page.receive({ type: 'cancel' });
    await eventually(() => expect(starts[0]!.signal.aborted).toBe(true));
    starts[0]!.end(undefined);
    await eventually(() => expect(lastStart()).toMatchObject({ isStarting: false, problem: '' }));
    page.receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(2));
    expect(starts[1]!.configuration).toMatchObject({ name: 'another' });
    expect(starts[1]!.signal.aborted).toBe(false);
    expect(started).toEqual([]);
  });

  it('says why it could not be started until something is changed', async () => {
    const { starts, values } = await form();
    page.receive({ type: 'start' });
    await eventually(() => expect(starts).toHaveLength(1));
    starts[0]!.fail(new Error('The disk is full.'));
    await eventually(() => expect(lastStart()).toMatchObject({ problem: 'The disk is full.' }));
    page.receive({ type: 'change', values });
    expect(lastStart()).toMatchObject({ isStarting: false, problem: '' });
  });

  it('answers a start that it does not make', async () => {
    const { starts, values } = await form();
    page.receive({ type: 'change', values: { ...values, 'critic.beta': '0' } });
    const told = page.posted.length;
    page.receive({ type: 'start' });
    await eventually(() => expect(page.posted.slice(told)).toContainEqual(lastStart()));
    expect(lastStart()).toMatchObject({ isStarting: false });
    expect(starts).toEqual([]);
  });
});

describe('a start', () => {
  const trainer = standInTrainer();

  /** Starts runs without beginning them. */
  async function starter(open: (signal: AbortSignal) => Promise<Trainer>, begin: () => Promise<void>) {
    const folder = await temporaryFolder();
    const { Runs } = await import('../../../src/core/training/runs');
    const runs = new Runs(path.join(folder, '.tandem'));
    const environment = {
      ...{ open, mayInstall: () => Promise.resolve(true) },
      prompts: path.resolve('src/core/dialogue/prompts'),
    };
    const made = new RunStarter({} as never, environment as never, { begin } as never);
    const value = { name: 'mine', model: { base: 'a/b' }, data: {}, play: [] };
    const start = (signal?: AbortSignal) =>
      made.start(value, { from: 'mine.json', folder, runs, ...(signal && { signal }) });
    return { runs, start };
  }

  it('that is cancelled, in its notification or in the form, leaves no run', async () => {
    const begin = vi.fn(() => Promise.resolve());
    const form = new AbortController();
    for (const cancel of [() => cancelled.fire(), () => form.abort()]) {
      const opening = async (signal: AbortSignal): Promise<Trainer> => {
        cancel();
        signal.throwIfAborted();
        return Promise.resolve(trainer);
      };
      const { runs, start } = await starter(opening, begin);
      expect(await start(form.signal)).toBeUndefined();
      expect(await runs.list()).toEqual([]);
    }
    expect(begin).not.toHaveBeenCalled();
  });

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
