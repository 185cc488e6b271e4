import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';
import { killTrainers, trainerEnvironment } from './runsView';

// A lesson on web pages, from the shipped model of their world.

let workspace: string;
let workbench: WorkbenchDriver;

const page = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const button = (name: string) => page().getByRole('button', { name, exact: true });
const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-teach-pages-'));
  workbench = await startWorkbench({ extension: root, workspace, environment: trainerEnvironment() });
});

afterAll(async () => {
  // The workbench closes first, because an open window continues the lesson.
  await workbench.close();
  await killTrainers(runs());
  await rm(workspace, { recursive: true, force: true });
});

test('teaches the agent of web pages', async () => {
  await workbench.showTandem();
  const offer = page().getByRole('heading', { name: 'Teach the agent' });
  await openRow(workbench.page.getByRole('button', { name: 'teach the agent' }), offer);
  await page().getByRole('radio', { name: 'Web pages' }).check();
  await page()
    .getByText(/^The agent \(starter-pages\)/)
    .waitFor();
  await page().getByRole('radio', { name: 'Brief' }).check();
  await accessiblePictures(workbench, page(), 'teach-pages-offer');
  await button('Start').click();
  const outcome = page().getByText(/^Success \d+ % → \d+ % on 40 held-out tasks/);
  // The duration of a lesson is not limited.
  while (!(await outcome.first().isVisible())) await wait(200);
  await accessiblePictures(workbench, page(), 'teach-pages-outcome');
  expect(await runs().list()).toMatchObject([{ state: 'done', name: 'Lesson 1' }]);
});

test('plays a page with the agent that was taught', async () => {
  await button('Play with it').click();
  await page()
    .getByText(/agent: Lesson 1/)
    .waitFor();
  await button('Agree and start').click();
  const draft = page().locator('.of-draft').frameLocator('iframe');
  await draft.getByRole('heading').first().waitFor();
  const pack = await readFile(path.join(workspace, 'starter-pages-held-out-1.jsonl'), 'utf8');
  expect(pack.trim().split('\n')).toHaveLength(24);
  await workbench.screenshot('teach-pages-play');
});

test('chooses blindly between its pages and those of the agent before', async () => {
  await workbench.runCommand('Tandem: Teach Agent…');
  await button('Blind comparison').click();
  const told = await workbench.notification(/from two, unnamed.*one by Lesson 1/);
  await told.getByRole('button', { name: 'Play Next Task' }).click();
  // The page that was begun comes first.
  await page().getByRole('textbox', { name: 'Your reply to the agent' }).fill('The bar should be brown.');
  await workbench.page.keyboard.press('Enter');
  // After a brief lesson both agents may show the same page.
  await page()
    .getByText('Which message is better?')
    .or(page().getByText('Both candidates were the same'))
    .waitFor();
  await page().locator('iframe').first().waitFor();
  await workbench.screenshot('teach-pages-blind');
});
