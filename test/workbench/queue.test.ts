import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { parseConfiguration } from '../../src/core/training/configuration';
import { Runs, type Run } from '../../src/core/training/runs';
import { startRun } from '../../src/core/training/start';
import { collectLog, realTrainer } from '../fixtures/trainer';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { signal } from '../fixtures/processes';
import { openRow } from './rows';
import { killTrainers, trainerEnvironment } from './runsView';

// Runs of the real trainer that would last for hours; the test ends them.

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const row = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name }).first();
const dialog = (): Locator => workbench.page.locator('.monaco-dialog-box');
const button = (name: string): Locator => view().getByRole('button', { name, exact: true });

const configuration = (name: string): object => ({
  name,
  method: 'rft',
  model: { base: path.join(root, 'media', 'starter'), training: 'full', device: 'cpu', dtype: 'float32' },
  data: { log: '.tandem', held_out: 0.4 },
  policy: { learning_rate: 3e-4, batch: 1, patience: 0, epochs: 1e6 },
  resources: { threads: 1 },
});

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-queue-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  await collectLog(path.join(workspace, '.tandem'));
  workbench = await startWorkbench({
    extension: root,
    workspace,
    environment: trainerEnvironment(),
  });
  await workbench.showTandem();
});

afterAll(async () => {
  await killTrainers(runs());
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));

async function named(name: string): Promise<Run | undefined> {
  return (await runs().list()).find((run) => run.name === name);
}

/** Queues a run from another process. */
async function queue(name: string): Promise<void> {
  await startRun(runs(), {
    configuration: await parseConfiguration(configuration(name), { from: 'a test', folder: workspace }),
    ...{ trainer: realTrainer(), prompts: path.resolve('trainer/tandem_trainer/data/prompts') },
    ...{ examined: true, queued: true },
  });
}

/** Waits until a run trains, and suspends its trainer, to free the machine for the checks. */
async function freeze(name: string): Promise<void> {
  for (;;) {
    const run = await named(name);
    if (run?.state === 'running' && run.progress?.step !== undefined && signal(run.process!.pid, 'SIGSTOP'))
      return;
    await wait(50);
  }
}

async function thaw(name: string): Promise<void> {
  process.kill((await named(name))!.process!.pid, 'SIGCONT');
}

async function kill(name: string): Promise<void> {
  process.kill((await named(name))!.process!.pid, 'SIGKILL');
}

test('a run that comes while another is at work waits for its turn, leaves the queue and comes back', async () => {
  await queue('first');
  await freeze('first');
  await row(/^first, running, policy/).waitFor();
  await queue('second');
  await openRow(row(/^second, queued$/), button('Start now'));
  await button('Leave the queue').click();
  await row(/^second, not started$/).waitFor();
  await button('Start').click();
  await row(/^second, queued$/).waitFor();
});

test('a person who wants the model of a run before its last step finishes it, and the next one begins', async () => {
  await openRow(row(/^first, running, policy/), button('Finish now…'));
  await button('Finish now…').press('Enter');
  await dialog().getByRole('button', { name: 'Finish Now' }).click();
  await row(/^first, finishing, policy/).waitFor();
  await expect.poll(() => button('Finish now…').isDisabled()).toBe(true);
  await thaw('first');
  await row(/^first, done, not evaluated, ended at step [\d,]+ of [\d,]+, /).waitFor();
  await freeze('second');
  await row(/^second, running, policy/).waitFor();
});

test('also when no window was open then: as soon as one opens', async () => {
  await queue('third');
  await row(/^third, queued$/).waitFor();
  // The next window opens without Tandem's side bar.
  await workbench.kept(/tandem/, 'sideBar');
  await workbench.activityBar('Explorer').click();
  await workbench.kept(/^$/, 'sideBar');
  await workbench.leave();
  await kill('second');
  expect(await named('third')).toMatchObject({ state: 'queued', isLive: false });
  await workbench.open();
  await workbench.activityBar('Explorer').and(workbench.page.locator('[aria-expanded=true]')).waitFor();
  await freeze('third');
  await workbench.page.locator('.statusbar-item', { hasText: /Tandem: run, policy/ }).waitFor();
});

test('one is begun beside the one at work by a person who confirms it', async () => {
  await queue('fourth');
  await workbench.showTandem();
  await openRow(row(/^fourth, queued$/), button('Start now'));
  await button('Start now').click();
  await dialog().getByRole('button', { name: 'Start Now' }).click();
  await freeze('fourth');
  await row(/^third, running, policy/).waitFor();
});
