import { cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
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
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { signal } from '../fixtures/processes';
import { alsoSelect, chooseInMenu, openRow } from './rows';
import { killTrainers, showRuns, trainerEnvironment } from './runsView';

// Runs of the real trainer that would last for hours; the test ends them.

let folder: string;
/** The workspace folder whose runs are shown, and the one whose runs are not. */
let workspace: string;
let other: string;
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
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-queue-'));
  workspace = path.join(folder, 'here');
  other = path.join(folder, 'elsewhere');
  await mkdir(other);
  const both = path.join(folder, 'both.code-workspace');
  await writeFile(both, JSON.stringify({ folders: [{ path: 'here' }, { path: 'elsewhere' }] }));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  await Promise.all([
    collectLog(path.join(workspace, '.tandem')),
    ...['first', 'second'].map((name) =>
      writeFile(path.join(workspace, `${name}.json`), JSON.stringify(configuration(name), undefined, 2)),
    ),
  ]);
  workbench = await startWorkbench({
    extension: root,
    workspace: both,
    environment: trainerEnvironment(),
  });
  await showRuns(workbench);
});

afterAll(async () => {
  await killTrainers(runs());
  await killTrainers(runs(other));
  await workbench.close();
  await rm(folder, { recursive: true, force: true });
});

const runs = (of = workspace): Runs => new Runs(path.join(of, '.tandem'));

async function named(name: string): Promise<Run | undefined> {
  const all = [...(await runs().list()), ...(await runs(other).list())];
  return all.find((run) => run.name === name);
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
async function queue(name: string, dataFolder: string): Promise<void> {
  await startRun(runs(dataFolder), {
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
  await accessiblePictures(workbench, view(), 'runs-queued');
});

test('it can be removed from the queue, and comes back into it when it is started', async () => {
  await button('Leave the queue').click();
  await row(/^second, not started$/).waitFor();
  await outcome().getByText('It was prepared and never started.').waitFor();
  await button('Start').click();
  await row(/^second, queued$/).waitFor();
});

test('it starts beside the one at work for a person who was told what that takes', async () => {
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await button('Start now').click();
  await dialog.getByText('Start “second” while “first” is running?').waitFor();
  await dialog.getByText(/^It needs about [\d.]+ [MG]B of memory, and [\d.]+ GB are free\./).waitFor();
  await workbench.screenshot('runs-start-beside');
  await dialog.getByRole('button', { name: 'Start Now' }).click();
  await freeze('second');
  await row(/^first, running, policy/).waitFor();
  await row(/^second, running, policy/).waitFor();
  await button('Stop immediately…').click();
  await dialog.getByRole('button', { name: 'Stop Immediately' }).click();
  await row(/^second, paused/).waitFor();
  await button('Resume').click();
  await row(/^second, queued/).waitFor();
});

/** Log file of the trainer of the next queued run. */
let log: string;

test('a person who wants the model of a run before its last step finishes it', async () => {
  log = path.join((await named('second'))!.folder, 'trainer.log');
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await workbench.closeAllEditors();
  await chooseInMenu(
    row(/^first, running, policy/),
    'Finish Run Now…',
    dialog.getByText('Finish “first” now?'),
  );
  await dialog.getByRole('button', { name: 'Cancel' }).press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await openRow(row(/^first, running, policy/), button('Finish now…'));
  await button('Finish now…').press('Enter');
  await dialog.getByText(/^It has made [\d,]+ of [\d,]+ steps \(policy\)/).waitFor();
  await workbench.screenshot('runs-finish');
  await dialog.getByRole('button', { name: 'Finish Now' }).click();
  await row(/^first, finishing, policy/).waitFor();
  await expect.poll(() => button('Finish now…').isDisabled()).toBe(true);
  await accessiblePictures(workbench, view(), 'runs-finishing');
  // The next queued run cannot be launched.
  await rename(log, `${log}.aside`);
  await mkdir(log);
  await thaw('first');
  await row(/^first, done, ended at step [\d,]+ of [\d,]+, /).waitFor();
  await outcome()
    .getByText(
      /^The trained model is ready\. Its training was finished early, at step [\d,]+ of [\d,]+ \(policy\): the best step/,
    )
    .waitFor();
  await accessiblePictures(workbench, view(), 'runs-finished-early');
  const { folder: finished } = (await named('first'))!;
  expect(await readdir(path.join(finished, 'model'))).toContain('model.safetensors');
});

test('one that cannot be launched halts the queue, which says why until a person tries again', async () => {
  await row(/^second, queued, the queue is halted/).waitFor();
  await openRow(
    row(/^second, queued/),
    outcome().getByText(/^The queue is halted and no run starts: .*trainer\.log/),
  );
  await workbench.page.getByText(/^The queue is halted: .*trainer\.log/).waitFor();
  await workbench.clearNotifications();
  await accessiblePictures(workbench, view(), 'runs-queue-halted');
  await rm(log, { recursive: true });
  await rename(`${log}.aside`, log);
});

test('it begins when the one before has ended', async () => {
  await button('Try again').click();
  await freeze('second');
  await row(/^second, running, policy/).waitFor();
});

test('also when no window was open then: as soon as one opens, which also tells what died meanwhile', async () => {
  await queue('third', workspace);
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
  await workbench.screenshot('runs-begun-by-window');
  const told = await workbench.notification(/second: died\. Its trainer/);
  await told.getByRole('button', { name: 'Resume' }).waitFor();
  await workbench.screenshot('runs-died-while-closed');
  await workbench.clearNotifications();
  expect(await named('second')).toMatchObject({ state: 'died' });
  await workbench.showTandem();
});

test('those that are selected are not deleted while one of them is at work', async () => {
  // Without Control a row would open, and its panel would take the focus.
  for (const name of [/^third, running/, /^second, died/, /^first, done/]) await alsoSelect(row(name));
  await workbench.page.getByRole('tree', { name: 'Runs' }).press('Delete');
  await workbench.notification(/Nothing is deleted: “third” is running/);
  await workbench.screenshot('runs-delete-live');
  await workbench.clearNotifications();
});

test('one that waits in another folder of the window begins as well, whatever the views show', async () => {
  await queue('fourth', other);
  await kill('third');
  await row(/^third, died/).waitFor();
  await freeze('fourth');
  await workbench.page.locator('.statusbar-item', { hasText: /Tandem: policy/ }).waitFor();
  await expect.poll(() => row(/^fourth/).count()).toBe(0);
  await workbench.screenshot('runs-begun-elsewhere');
});

test('several are deleted together, with what they take', async () => {
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await workbench.clearNotifications();
  await chooseInMenu(
    row(/^third, died/),
    'Delete Run…',
    dialog.getByText(/^Delete 3 runs \([\d.]+ [kMG]B\)\?$/),
  );
  await dialog.getByText(/second \([\d.]+ [kMG]B\)/).waitFor();
  await workbench.screenshot('runs-delete-several');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await row(/^first/).waitFor({ state: 'detached' });
  await expect.poll(() => runs().list()).toEqual([]);
});
