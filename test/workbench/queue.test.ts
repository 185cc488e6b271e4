import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs, type Run } from '../../src/core/training/runs';
import { collectLog } from '../fixtures/trainer';
import { violations } from './accessibility';
import { startWorkbench, type Theme, type WorkbenchDriver } from './driver';
import { killTrainers, showRuns, trainerEnvironment } from './runsView';

// Runs of the real trainer that would go on for hours: they end when the test says so.

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
    ...['first', 'second', 'third'].map((name) =>
      writeFile(path.join(workspace, `${name}.json`), JSON.stringify(configuration(name), undefined, 2)),
    ),
  ]);
  workbench = await startWorkbench({
    extension: root,
    workspace,
    environment: trainerEnvironment(),
  });
  // A trainer imports torch before it says a word, twice before it is launched.
  workbench.page.setDefaultTimeout(100_000);
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
  await workbench.runCommand('View: Close All Editors');
  await workbench.runCommand('File: Open File...');
  await workbench.chooseFile(path.join(workspace, file));
  await workbench.page.locator('.tab', { hasText: file }).waitFor();
  // The command is offered for a text whose language is known.
  await workbench.page.locator('.statusbar-item', { hasText: /^JSON$/ }).waitFor();
  await workbench.runCommand('Tandem: Start Run from This File');
  await view().getByRole('heading', { name, exact: true }).waitFor();
}

/** Waits until it trains, and stops its trainer in the middle of it, to leave the machine to what is looked at. */
async function freeze(name: string): Promise<void> {
  for (;;) {
    const run = await named(name);
    if (run?.isLive === true && run.progress?.step !== undefined) {
      process.kill(run.process!.pid, 'SIGSTOP');
      return;
    }
    await wait(50);
  }
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
    .getByText(/^It waits for its turn/)
    .waitFor();
  await button('Start now').waitFor();
  for (const theme of ['light', 'dark', 'hc-dark'] satisfies Theme[]) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`runs-queued-${theme}`);
    expect(await violations(view())).toEqual([]);
  }
});

test('it can be removed from the queue, and comes back into it when it is resumed', async () => {
  await button('Leave the queue').click();
  await row(/^second, paused$/).waitFor();
  await outcome().getByText('It was prepared and never started.').waitFor();
  await button('Resume').click();
  await row(/^second, queued$/).waitFor();
});

test('it begins when the one before has ended', async () => {
  await kill('first');
  await freeze('second');
  await row(/^first, died/).waitFor();
  await row(/^second, running, policy/).waitFor();
});

test('also when no window was open then: as soon as one opens', async () => {
  await start('third');
  await row(/^third, queued$/).waitFor();
  await workbench.leave();
  await kill('second');
  expect(await named('third')).toMatchObject({ state: 'queued', isLive: false });
  // One that remembers nothing, so that Tandem is not what it shows.
  const window = await workbench.anotherWindow();
  await freeze('third');
  await window.page.locator('.statusbar-item', { hasText: /Tandem: policy/ }).waitFor();
  await window.screenshot('runs-begun-by-window');
  await window.close();
  expect(await named('second')).toMatchObject({ state: 'died' });
});
