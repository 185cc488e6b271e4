import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs, type Run } from '../../src/core/training/runs';
import { collectLog, realTrainer, tinyModel } from '../fixtures/trainer';
import { violations } from './accessibility';
import { startWorkbench, type Theme, type WorkbenchDriver } from './driver';
import { startDefaultRun } from './newRunForm';

// The real trainer, on a real log: the starter model with the defaults, and a model of random weights for what takes
// longer than a test may wait.

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Runs' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const section = (name: string): Locator => workbench.page.locator('.pane-header', { hasText: name });
const button = (name: string): Locator => view().getByRole('button', { name, exact: true });

const stage = { learning_rate: 1e-2, batch: 1, patience: 0, evaluate_every: 10 };
/** A checkpoint after every step: a kill costs nothing. Long enough to be watched, reloaded and paused in its critic. */
const long = {
  name: 'long one',
  model: { base: 'base', device: 'cpu', lora_rank: 2 },
  data: { log: '.tandem', held_out: 0.4, opening: 'short.md' },
  critic: { ...stage, epochs: 4000, max_steps: 2000 },
  candidates: { per_turn: 2, pairs_per_turn: 1, trajectories: 0.1, max_new_tokens: 4 },
  policy: { ...stage, epochs: 1, max_steps: 2 },
  resources: { token_budget: 4096, checkpoint_activations: false, threads: 1, checkpoint_minutes: 0 },
};

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-runs-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  await Promise.all([
    tinyModel(path.join(workspace, 'base')),
    collectLog(path.join(workspace, '.tandem')),
    writeFile(path.join(workspace, 'short.md'), '{{description}}'),
    writeFile(path.join(workspace, 'long.json'), JSON.stringify(long, undefined, 2)),
  ]);
  workbench = await startWorkbench({
    extension: root,
    workspace,
    environment: { TANDEM_TRAINER_PYTHON: realTrainer().python },
  });
  // A trainer imports torch before it says a word, twice before it is launched.
  workbench.page.setDefaultTimeout(150_000);
  await workbench.activityBar('Tandem').click();
  await section('Runs').waitFor();
  // The side bar draws only the rows that fit: the other views make room.
  for (const other of ['Tasks', 'Trajectories', 'Models']) await section(other).click();
});

afterAll(async () => {
  for (const { process: trainer, isLive } of await runs().list())
    if (isLive && trainer) process.kill(trainer.pid, 'SIGKILL');
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));

async function newest(): Promise<Run> {
  const [run] = await runs().list();
  return run!;
}

/** In every theme, in which everybody can use what the webview draws. */
async function pictures(name: string): Promise<void> {
  await workbench.runCommand('Notifications: Clear All Notifications');
  for (const theme of ['light', 'dark', 'hc-dark'] satisfies Theme[]) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`${name}-${theme}`);
    expect(await violations(view())).toEqual([]);
  }
}

async function startFromFile(file: string): Promise<void> {
  await workbench.runCommand('File: Open File...');
  await workbench.chooseFile(path.join(workspace, file));
  await workbench.page.locator('.tab', { hasText: file }).waitFor();
  await workbench.runCommand('Tandem: Start Run from This File');
}

test('an empty view says what it is for, and a first run is two clicks away', async () => {
  await workbench.page.getByRole('button', { name: 'New Run…' }).waitFor();
  await workbench.screenshot('runs-empty');
  await startDefaultRun(workbench, 'SWEET-RL');
  // The trainer imports torch twice before it is launched.
  await row(/^sweet-rl #1, /).waitFor({ timeout: 180_000 });
  await view().getByRole('heading', { name: 'sweet-rl #1' }).waitFor();
  await view().getByText('SWEET-RL on starter').waitFor();
  await workbench.screenshot('runs-first');
});

test('the first run is done, with one sentence and a model to play with', async () => {
  await row(/^sweet-rl #1, done/).waitFor({ timeout: 200_000 });
  await view().getByText('The trained model is ready.').first().waitFor();
  await button('Play with it').waitFor();
  await view().getByText('Turns that the critic likes').waitFor();
  await pictures('runs-done');
});

test('a run from a file is followed live, with its curves', async () => {
  await workbench.runCommand('View: Close All Editors');
  await startFromFile('long.json');
  await row(/^long one, running, critic \d+ %/).waitFor({ timeout: 200_000 });
  await view()
    .getByRole('img', { name: /^Pair accuracy of critic, from / })
    .waitFor();
  await button('Pause').waitFor();
  await workbench.page.locator('.statusbar-item', { hasText: /Tandem: critic \d+ %/ }).waitFor();
  await pictures('runs-live');
});

test('looks at another figure, smoothed and logarithmic, and at the same numbers as a table', async () => {
  await view().getByRole('button', { name: /^Loss/ }).click();
  await view()
    .getByRole('img', { name: /^Loss of critic, from / })
    .waitFor();
  await view().getByRole('combobox', { name: 'Smoothing' }).selectOption({ label: 'much' });
  await view().getByRole('checkbox', { name: 'Logarithmic' }).check();
  await workbench.screenshot('runs-log-scale');
  await button('Show the table').click();
  await view().getByRole('columnheader', { name: 'Held out' }).waitFor();
  await pictures('runs-table');
  await button('Show the picture').click();
  await view()
    .getByRole('img', { name: /^Loss of critic, from / })
    .waitFor();
});

test('after a reload in the middle the panel is back, and goes on', async () => {
  const before = (await newest()).progress?.step ?? 0;
  await workbench.reload();
  await view().getByRole('heading', { name: 'long one' }).waitFor();
  // It has remembered what was looked at.
  await view()
    .getByRole('img', { name: /^Loss of critic, from / })
    .waitFor();
  expect(await view().getByRole('checkbox', { name: 'Logarithmic' }).isChecked()).toBe(true);
  await row(/^long one, running, critic \d+ %/).waitFor();
  const run = await newest();
  expect(run).toMatchObject({ state: 'running', isLive: true });
  expect(run.progress!.step!).toBeGreaterThan(before);
});

test('is paused with a checkpoint, and resumed where it was', async () => {
  await button('Pause').click();
  await row(/^long one, paused, critic \d+ %/).waitFor();
  await button('Resume').waitFor();
  const { progress, state, isLive } = await newest();
  expect([state, isLive]).toEqual(['stopped', false]);
  await pictures('runs-paused');
  await button('Resume').click();
  await row(/^long one, running, critic \d+ %/).waitFor();
  expect((await newest()).progress!.step!).toBeGreaterThanOrEqual(progress!.step!);
});

test('a trainer that is killed is reported, with a button that resumes it', async () => {
  const { process: trainer } = await newest();
  process.kill(trainer!.pid, 'SIGKILL');
  await row(/^long one, died, critic \d+ %/).waitFor();
  const notice = await workbench.notification(/long one: died/);
  await workbench.screenshot('runs-died-notice');
  await notice.getByRole('button', { name: 'Show' }).waitFor();
  await view()
    .getByText(/Its trainer \(process \d+\) ended without a last word/)
    .waitFor();
  await notice.getByRole('button', { name: 'Resume' }).click();
  await row(/^long one, running, critic \d+ %/).waitFor();
  process.kill((await newest()).process!.pid, 'SIGKILL');
  await row(/^long one, died/).waitFor();
  await pictures('runs-died');
});

test('another window sees the same run; what is over is duplicated and deleted', async () => {
  const other = await workbench.anotherWindow();
  await other.activityBar('Tandem').click();
  const header = (name: string): Locator => other.page.locator('.pane-header', { hasText: name });
  for (const name of ['Tasks', 'Trajectories', 'Models']) await header(name).click();
  const seen = other.page.getByRole('tree', { name: 'Runs' });
  await seen.getByRole('treeitem', { name: /^long one, died/ }).waitFor();
  await other.close();
  await workbench.chooseInMenu(row(/^long one, died/), 'Duplicate Run with Changes…');
  await view().getByRole('heading', { name: 'New run like long one' }).waitFor();
  const { folder } = await newest();
  await workbench.chooseInMenu(row(/^long one, died/), 'Delete Run…');
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await dialog.getByText(/Delete the run “long one” \([\d.]+ MB\)\?/).waitFor();
  await workbench.screenshot('runs-delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await row(/^long one/).waitFor({ state: 'detached' });
  await expect(readFile(path.join(folder, 'run.json'))).rejects.toThrow('ENOENT');
});
