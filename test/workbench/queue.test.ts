import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
import { killTrainers, showRuns, trainerEnvironment } from './runsView';

// Runs of the real trainer that would last for hours; the test ends them.

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const row = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name }).first();
const outcome = (): Locator => view().getByRole('region', { name: 'Outcome' });
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
  await Promise.all([
    collectLog(path.join(workspace, '.tandem')),
    ...['first', 'second'].map((name) =>
      writeFile(path.join(workspace, `${name}.json`), JSON.stringify(configuration(name), undefined, 2)),
    ),
  ]);
  workbench = await startWorkbench({
    extension: root,
    workspace,
    environment: trainerEnvironment(),
  });
  await showRuns(workbench);
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

async function start(name: string): Promise<void> {
  const file = `${name}.json`;
  await workbench.closeAllEditors();
  await workbench.runCommand('File: Open File...');
  await workbench.quickInput.chooseFile(path.join(workspace, file));
  await workbench.page.locator('.tab', { hasText: file }).waitFor();
  // The command is available only once the language of the text is known.
  await workbench.page.locator('.statusbar-item', { hasText: /^JSON$/ }).waitFor();
  await workbench.runCommand('Tandem: Start Run from This File');
  await view().getByRole('heading', { name, exact: true }).waitFor();
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

test('a run that is started while another is at work waits for its turn, and says so', async () => {
  await start('first');
  await freeze('first');
  await row(/^first, running, policy/).waitFor();
  await start('second');
  await row(/^second, queued$/).waitFor();
  await outcome()
    .getByText(/^It is queued/)
    .waitFor();
  await button('Start now').waitFor();
});

test('a person who wants the model of a run before its last step finishes it, and the next one begins', async () => {
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await openRow(row(/^first, running, policy/), button('Finish now…'));
  await button('Finish now…').press('Enter');
  await dialog.getByRole('button', { name: 'Finish Now' }).click();
  await row(/^first, finishing, policy/).waitFor();
  await expect.poll(() => button('Finish now…').isDisabled()).toBe(true);
  await thaw('first');
  await row(/^first, done, ended at step [\d,]+ of [\d,]+, /).waitFor();
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
  await workbench.page.locator('.statusbar-item', { hasText: /Tandem: policy/ }).waitFor();
});
