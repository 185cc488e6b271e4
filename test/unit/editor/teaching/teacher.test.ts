import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eventually } from '../../../fixtures/eventually';
import type { LoopPlan, LoopResult } from '../../../../src/core/evaluation/loop/plan';

/** Loops that were begun, in order; the test ends them. */
const loops: { readonly plan: LoopPlan; readonly end: (result: LoopResult) => void }[] = [];

vi.mock('vscode', () => import('../vscode'));
vi.mock('../../../../src/editor/background', async (real) => ({
  ...(await real<object>()),
  afterActivation: () => ({ dispose: vi.fn() }),
}));
vi.mock('../../../../src/core/model/local/folder', () => ({ readLocalFolder: () => ({ parameters: 1 }) }));
vi.mock('../../../../src/core/training/trainer', async (real) => ({
  ...(await real<object>()),
  trainerCode: vi.fn(),
}));
vi.mock('../../../../src/core/evaluation/loop/loopProgress', async (real) => ({
  ...(await real<object>()),
  ...{ expectedOf: () => [], slownessHere: () => Promise.resolve({}) },
}));
vi.mock('../../../../src/core/evaluation/loop/loop', () => ({
  runLoop: (plan: LoopPlan) =>
    new Promise<LoopResult>((resolve, reject) => {
      loops.push({ plan, end: resolve });
      plan.signal?.addEventListener('abort', () => reject(plan.signal?.reason as Error));
    }),
}));

const { Teacher } = await import('../../../../src/editor/teaching/teacher');
const { STARTER } = await import('../../../../src/editor/localModels');

let folder: string;
const mayInstall = vi.fn<() => Promise<boolean>>();
const isInstalled = vi.fn<() => Promise<boolean>>();
const open =
  vi.fn<(signal: AbortSignal, report: (said: string, fraction?: number) => void) => Promise<object>>();
const report = vi.fn<(error: unknown) => void>();

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-teacher-'));
  loops.length = 0;
  mayInstall.mockReset().mockResolvedValue(true);
  isInstalled.mockReset().mockResolvedValue(true);
  open.mockReset().mockResolvedValue({});
  report.mockReset();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function teacher(): InstanceType<typeof Teacher> {
  const engine = {
    ...{ dataFolder: folder, configuration: { dataFolder: folder }, agentName: STARTER, report },
    ...{ localPlaces: [{ spec: STARTER, folder: '/models/starter', name: 'starter' }] },
    ...{ locals: { model: () => ({}) }, log: () => Promise.resolve({}) },
  };
  const trainer = { mayInstall, isInstalled, open, assets: '/assets', prompts: '/prompts' };
  return new Teacher(engine as never, trainer as never);
}

const kept = async (number: number): Promise<unknown> =>
  JSON.parse(await readFile(path.join(folder, 'teaching', String(number), 'lesson.json'), 'utf8')) as unknown;

const result = {
  ...{ run: 'run-1', report: '/report.md', comparisons: { agent: [] } },
} as unknown as LoopResult;

it('begins one lesson however often a person presses before it works', async () => {
  const here = teacher();
  await Promise.all([here.start('brief'), here.start('brief'), here.goOn()]);
  await eventually(() => expect(loops).toHaveLength(1));
  await here.start('brief');
  here.prepare();
  expect(here.now).toMatchObject({ state: 'working', lesson: { number: 1 } });
  await expect(kept(2)).rejects.toThrow();
  await here.stop();
  await eventually(() => expect(here.now).toMatchObject({ state: 'stopped', lesson: { isWanted: false } }));
  await Promise.all([here.goOn(), here.goOn(), here.start('brief')]);
  await eventually(() => expect(loops).toHaveLength(2));
  expect(here.now).toMatchObject({ state: 'working', lesson: { number: 1, isWanted: true } });
  expect(report).not.toHaveBeenCalled();
});

it('can begin one after a press that came to nothing', async () => {
  const here = teacher();
  mayInstall.mockResolvedValueOnce(false).mockRejectedValueOnce(new Error('No Python.'));
  await here.start('brief');
  await expect(here.start('brief')).rejects.toThrow('No Python.');
  expect(here.now.state).toBe('none');
  await here.start('brief');
  expect(here.now.state).toBe('working');
});

it('installs before it plays, and says so also while it waits to begin', async () => {
  const here = teacher();
  isInstalled.mockResolvedValue(false);
  await here.lookForTrainer();
  expect(here.now).toMatchObject({ state: 'none', installing: { isDone: false, said: '' } });
  const { promise, resolve } = Promise.withResolvers<object>();
  open.mockImplementation((_, tell) => {
    tell('downloading torch', 0.13);
    return promise;
  });
  await here.start('brief');
  await eventually(() =>
    expect(here.now).toMatchObject({ stages: [], installing: { said: 'downloading torch', fraction: 0.13 } }),
  );
  expect(here.now.secondsLeft).toBeUndefined();
  expect(loops).toHaveLength(0);
  resolve({});
  await eventually(() => expect(loops).toHaveLength(1));
  expect(here.now.installing).toMatchObject({ isDone: true });
  loops[0]!.end(result);
  await eventually(() => expect(here.now.state).toBe('done'));
  expect(here.now.installing).toBeUndefined();
});

it('keeps the result of a lesson that ends while it is being stopped', async () => {
  const here = teacher();
  await here.start('brief');
  await eventually(() => expect(loops).toHaveLength(1));
  const stopping = here.stop();
  loops[0]!.end(result);
  await stopping;
  await eventually(() => expect(here.now).toMatchObject({ state: 'done', run: 'run-1' }));
  expect(await kept(1)).toMatchObject({ isWanted: false, outcome: { run: 'run-1' } });
  await here.stop();
  expect(await kept(1)).toMatchObject({ outcome: { run: 'run-1' } });
});
