import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { accessiblePictures } from './accessibility';
import { ChatView, parking } from './chatView';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';
import { killTrainers, trainerEnvironment } from './runsView';
import { allThemes } from './themes';

// A newcomer in an empty folder teaches the agent: everything is real, only smaller.

let workspace: string;
let workbench: WorkbenchDriver;

const page = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const button = (name: string): Locator => page().getByRole('button', { name, exact: true });
const heading = (name: string | RegExp): Locator => page().getByRole('heading', { name });
const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));
const outcome = (): Locator =>
  page()
    .getByText(/^Success \d+ % → \d+ % on 40 held-out tasks/)
    .first();
/** Finds the header of a view of the side bar. */
const view = (name: string): Locator =>
  workbench.page.locator('.part.sidebar .pane-header', { hasText: name });
/** Finds the current step of the lesson. */
const now = (name: string): Locator => page().locator('[aria-current=step]', { hasText: name });

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-teach-'));
  workbench = await startWorkbench({
    ...{ extension: root, workspace, environment: trainerEnvironment() },
    // This is a newcomer's default; the chat's agent mode does not list Tandem's models.
    settings: { 'chat.disableAIFeatures': false },
  });
});

afterAll(async () => {
  // The workbench closes first, because an open window continues the lesson.
  await workbench.close();
  await killTrainers(runs());
  await rm(workspace, { recursive: true, force: true });
});

test('finds in the empty list of tasks what teaching the agent does, and how long it takes', async () => {
  await workbench.showTandem();
  await openRow(workbench.page.getByRole('button', { name: 'teach the agent' }), heading('Teach the agent'));
  await page()
    .getByText(/1,200 tasks, 1,200 dialogues\. About \d+ (s|min|h)\./)
    .waitFor();
  await accessiblePictures(workbench, page(), 'teach-offer');
  await page().getByRole('radio', { name: 'Brief' }).check();
  await page().getByText('100 for training and 40 held out, of other kinds').waitFor();
  await button('Start').click();
  await button('Stop').waitFor();
  await view('Runs').waitFor();
});

test('has the window reloaded while dialogues are collected, stops the lesson and goes on', async () => {
  await workbench.kept(/Lesson 1/);
  await workbench.reload();
  await button('Stop').click();
  await button('Continue').click();
});

test('has the window reloaded in the middle of the training, which goes on by itself', async () => {
  while ((await runs().list()).length === 0) await wait(200);
  await workbench.screenshot('teach-training');
  await workbench.reload();
  await heading('Lesson 1').waitFor();
  await workbench.killExtensionHosts();
  await workbench.reload();
  while ((await runs().list())[0]?.state !== 'done') await wait(200);
});

test('has the window reloaded in the middle of the evaluation, and sees what came out', async () => {
  while ((await now('Evaluate').or(outcome()).count()) === 0) await wait(200);
  await workbench.reload();
  // The duration of a lesson is not limited.
  while (!(await outcome().isVisible())) await wait(200);
  await accessiblePictures(workbench, page(), 'teach-outcome');
  await workbench.setSize(400, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await accessiblePictures(workbench, page(), 'teach-outcome-narrow');
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);
  expect(await runs().list()).toMatchObject([{ state: 'done', name: 'Lesson 1' }]);
});

test('sees the same result in the run, in its row and beside its base model', async () => {
  const sentence = await outcome().innerText();
  await button('Show the run').click();
  await heading('Lesson 1').waitFor();
  await button('Evaluate…').waitFor();
  await page().getByText(sentence, { exact: true }).waitFor();
  const [, before, after] = /(\d+) % → (\d+) %/.exec(sentence)!;
  await workbench.openViews('Runs');
  await workbench.page
    .getByRole('treeitem', { name: new RegExp(`^Lesson 1, done, ${before} → ${after} %, .*points`) })
    .waitFor();
  await accessiblePictures(workbench, page(), 'teach-run');
  await button('Compare').click();
  await page()
    .getByText(/^sampled at temperature 1, /)
    .waitFor();
  await page()
    .getByText(/^greedy, /)
    .waitFor();
  await accessiblePictures(workbench, page(), 'teach-compared');
  await workbench.runCommand('View: Close Editor');
  await workbench.runCommand('View: Close Editor');
});

test('plays with the agent that was taught', async () => {
  await button('Play with it').click();
  await page()
    .getByText(/agent: Lesson 1/)
    .waitFor();
  await workbench.notification(/Lesson 1 now plays in the chat and in new dialogues/);
  await workbench.pictures('teach-plays-now', allThemes);
  await workbench.clearNotifications();
});

test('asks it in the chat', async () => {
  await workbench.runCommand('Tandem: Teach Agent…');
  await button('Use in chat').click();
  const chat = new ChatView(workbench);
  await chat.say(parking);
  await chat.asksOrAnswers.waitFor();
  await workbench.pictures('teach-chat', ['light', 'dark']);
});

test('chooses blindly between its messages and those of the agent before', async () => {
  await workbench.runCommand('Tandem: Teach Agent…');
  await button('Blind comparison').click();
  const told = await workbench.notification(/from two, unnamed.*one by Lesson 1/);
  await told.getByRole('button', { name: 'Play Next Task' }).click();
  await page()
    .getByRole('button', { name: /\bstart\b/i })
    .click();
  // After a brief lesson both agents may ask the same question.
  await page()
    .getByText('Which message is better?')
    .or(page().getByText('Both candidates were the same'))
    .waitFor();
});
