import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { killTrainers, showRuns, trainerEnvironment } from './runsView';

// A newcomer in an empty folder has the agent taught: everything is real, and there is only less of it.

let workspace: string;
let workbench: WorkbenchDriver;

const page = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const button = (name: string): Locator => page().getByRole('button', { name, exact: true });
const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-teach-'));
  workbench = await startWorkbench({ extension: root, workspace, environment: trainerEnvironment() });
});

afterAll(async () => {
  // In this order: as long as the window is there, it goes on with the lesson.
  await workbench.close();
  await killTrainers(runs());
  await rm(workspace, { recursive: true, force: true });
});

test('finds in the empty view of runs what teaching the agent does, and how long it takes', async () => {
  await showRuns(workbench);
  await workbench.page.getByRole('button', { name: 'Teach Agent…' }).first().click();
  await page().getByRole('heading', { name: 'Teach the agent' }).waitFor();
  await page()
    .getByText(/400 tasks, 1,600 dialogues\. About \d+ (s|min|h) on this machine\./)
    .waitFor();
  await accessiblePictures(workbench, page(), 'teach-offer');
  await page().getByRole('radio', { name: 'Brief' }).check();
  await page().getByText('40 for training and 40 held out, of other kinds').waitFor();
  await button('Start').click();
  await button('Stop').waitFor();
});

test('stops it and goes on, and has the window reloaded in the middle of it', async () => {
  await button('Stop').click();
  await button('Continue').click();
  while ((await runs().list()).length === 0) await wait(200);
  await workbench.screenshot('teach-training');
  await workbench.kept(/Teach the agent/);
  await workbench.reload();
  await page().getByRole('heading', { name: 'Teach the agent' }).waitFor();
  await workbench.killExtensionHosts();
  await workbench.reload();
});

test('has the training go on by itself until its run is done', async () => {
  while ((await runs().list())[0]?.state !== 'done') await wait(200);
});

test('sees what came out, and plays with the agent that was taught', async () => {
  const outcome = page()
    .getByText(/^Success \d+ % → \d+ % on 40 held-out tasks/)
    .first();
  // A lesson takes as long as it takes.
  while (!(await outcome.isVisible())) await wait(200);
  await accessiblePictures(workbench, page(), 'teach-outcome');
  expect(await runs().list()).toMatchObject([{ state: 'done' }]);
  await button('Play with it').click();
  await page()
    .getByText(/agent: taught-starter/)
    .waitFor();
});
