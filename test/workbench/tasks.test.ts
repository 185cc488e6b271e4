import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Hub } from '../fixtures/hub';
import { accessiblePictures } from './accessibility';
import { gradedHeading, type WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { moreSettings } from './newRunForm';
import { chooseInMenu, pointAt, pressChord, pressInRow } from './rows';
import { allThemes } from './themes';

const row = (id: string, words = 'Double it.'): string =>
  JSON.stringify({
    id,
    problem_description: `${words} def f(x)`,
    ground_truth: 'def f(x):\n    return 2 * x',
    test_cases: { test1: 'f(1)' },
  });

const published = Array.from({ length: 300 }, (_, index) => `${row(`published-${index}`)}\n`).join('');

let folder: string;
let workspace: string;
let hub: Hub;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tasks = (): Locator => workbench.page.getByRole('tree', { name: 'Tasks' });
const task = (name: RegExp): Locator => tasks().getByRole('treeitem', { name }).first();
const pane = (): Locator => workbench.page.locator('.pane', { has: tasks() });
const quickInput = (): Locator => workbench.quickInput.widget;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-tasks-'));
  workspace = path.join(folder, 'work');
  await mkdir(workspace);
  hub = await Hub.start(['backend_tasks/test.jsonl'], Buffer.from(published));
  workbench = await startWorkbench({
    extension: root,
    workspace,
    settings: { 'tandem.session.openGuidelines': true },
    environment: { HF_ENDPOINT: hub.url },
  });
});

afterAll(async () => {
  await workbench.close();
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

/** Names of the views in the side bar, from top to bottom. */
const views = (): Promise<string[]> =>
  workbench.page.locator('.part.sidebar .pane-header h3.title').allTextContents();

/** Window size for the whole list, because the tree draws only the rows that fit. */
const tall = { width: 1280, height: 2600 };

async function pictures(name: string): Promise<void> {
  await workbench.setSize(1280, 800);
  await workbench.pictures(name);
  await workbench.setSize(tall.width, tall.height);
}

/**
 * Clicks a button in the title of the Tasks view. The title is drawn anew when what is listed changes.
 * @param shown what opens
 */
async function titleButton(name: string, shown: Locator): Promise<void> {
  await pressInRow(pane(), name, shown);
}

const tab = (name: RegExp): Locator => workbench.page.getByRole('tab', { name }).first();
const activeTab = (name: RegExp): Locator =>
  workbench.page.locator('.editor-group-container.active').getByRole('tab', { name, selected: true });

async function dismissNotifications(): Promise<void> {
  await workbench.clearNotifications();
}

test('a newcomer is in a first dialogue after two clicks', async () => {
  let clicks = 0;
  const click = async (on: Locator): Promise<void> => {
    clicks += 1;
    await on.click();
  };
  await workbench.showTandem();
  await workbench.page.getByRole('button', { name: 'Play First Task' }).waitFor();
  await expect.poll(views).toEqual(['Tasks', 'Models']);
  await pictures('tasks-welcome');

  await click(workbench.page.getByRole('button', { name: 'Play First Task' }));
  await click(session().getByRole('button', { name: 'Agree and start' }));
  const composer = session().getByRole('textbox', { name: 'Your reply to the agent' });
  await composer
    .or(session().getByRole('heading', { name: gradedHeading }))
    .first()
    .waitFor();
  expect(clicks).toBe(2);
  await expect.poll(views).toEqual(['Tasks', 'Dialogues', 'Models']);
  await task(/^Teach Agent…/).waitFor();
  await pictures('tasks-first-dialogue');
  await workbench.setSize(400, 800);
  await workbench.screenshot('tasks-first-dialogue-narrow');
  await workbench.setSize(tall.width, tall.height);
});

test('finds the guidelines of the pack beside the first task, and the reference behind them', async () => {
  await workbench.page.getByRole('tab', { name: /starter-world\.guidelines\.md/ }).waitFor();
  await workbench.page.getByRole('tab', { name: /\.reference\.py/ }).waitFor();
  await activeTab(/^Lot bill/).waitFor();
  await pictures('tasks-guidelines');
});

test('sees in the status bar what goes on, and comes back to the session by a click', async () => {
  const item = workbench.page.locator('.statusbar-item', { hasText: /^\s*Tandem: / });
  await item.waitFor();
  await tab(/^lot-bill\.reference\.py/).click();
  await activeTab(/^lot-bill\.reference\.py/).waitFor();
  await item.getByRole('button').click();
  await activeTab(/^Lot bill/).waitFor();
});

test('finds a task by words of its description', async () => {
  await titleButton('Find Task…', workbench.quickInput.listed('Lot bill'));
  await quickInput().locator('input.input').fill('guest house');
  await workbench.quickInput.listed('Lot bill').waitFor({ state: 'detached' });
  await workbench.quickInput.listed('Hotel stay').waitFor();
  await workbench.screenshot('tasks-find');
  await workbench.quickInput.pick('Hotel stay');
  // The guidelines of a new pack do not hide the reference.
  await tab(/^written-by-hand\.guidelines\.md/).waitFor();
  await workbench.page.getByRole('tab', { name: /^hotel-stay\.reference\.py/, selected: true }).waitFor();
  await activeTab(/^Hotel stay/).waitFor();
});

test('opens tests from the menu of a task, copies its id, skips it and plays it', async () => {
  await workbench.openViews('Tasks');
  const parking = task(/^Parking bill, new$/);
  await chooseInMenu(parking, 'Open Tests', activeTab(/^parking-bill\.tests\.py/));
  await chooseInMenu(parking, 'Copy Task ID');
  await expect.poll(() => workbench.clipboard()).toMatch(/^starter-development-\w+$/);
  await chooseInMenu(parking, 'Skip Task…', workbench.quickInput.listed('The request is unclear'));
  await workbench.quickInput.pick('The request is unclear');
  await task(/^Parking bill, skipped: the request is unclear$/).waitFor();
  await chooseInMenu(
    task(/^Lot bill, (draft|\d+\/10 tests)/),
    'Show Dialogues…',
    workbench.quickInput.listed(/starter · developer/),
  );
  await workbench.quickInput.pick(/starter · developer/);
  await activeTab(/^Lot bill/).waitFor();
});

test('drops a pack on the list', async () => {
  const data = await workbench.page.evaluateHandle(
    (content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], 'dropped.jsonl'));
      return transfer;
    },
    `${row('dropped-one')}\n${row('dropped-two')}\n`,
  );
  const target = task(/^written-by-hand,/);
  for (const event of ['dragenter', 'dragover', 'drop'])
    await target.dispatchEvent(event, { dataTransfer: data });
  await task(/^dropped, 2 tasks/).waitFor();
  await workbench.notification(/dropped\.jsonl is in the list: 2 tasks, 2 tests\./);
  await dismissNotifications();
});

test('takes a pack out of the list and back', async () => {
  await chooseInMenu(task(/^dropped, 2 tasks/), 'Remove from List');
  const told = await workbench.notification(/dropped is no longer in the list\. Its file stays\./);
  await task(/^dropped,/).waitFor({ state: 'detached' });
  expect(await readdir(workspace)).toContain('dropped.jsonl');
  await told.getByRole('button', { name: 'Undo' }).click();
  await task(/^dropped, 2 tasks/).waitFor();
});

test('collects dialogues of generated tasks, is cancelled and continued, and opens a new run of them', async () => {
  await titleButton('Add Tasks…', workbench.quickInput.listed('Generate Tasks…'));
  await workbench.quickInput.pick('Generate Tasks…');
  await workbench.quickInput.pick('Functions');
  await workbench.quickInput.pick('Tasks to learn from');
  await workbench.quickInput.answer('How many tasks?', '60');
  const decisions = /decisions that only the collaborator knows/;
  await quickInput().getByText(decisions).first().waitFor();
  await workbench.screenshot('tasks-generate');
  await workbench.quickInput.answer(decisions);
  await task(/^starter-world-train-1, 60 tasks/).waitFor();
  const generated = await workbench.notification(
    /Generated tasks to learn from in starter-world-train-1\.jsonl: 60/,
  );
  await generated.getByRole('button', { name: 'Collect Dialogues…' }).click();
  await workbench.quickInput.answer(/How many of its 60 tasks/, '4');
  await workbench.quickInput.answer(/How many dialogues per task/, '3');
  await workbench.quickInput.listed('Agent: starter').waitFor();
  await pictures('tasks-collect');
  const isHeld = workbench.hold(/inference\.js/);
  await workbench.quickInput.pick('Play 12 dialogues');
  const goOn = await isHeld;
  const working = await workbench.notification(/starter plays with rules/);
  await working.getByRole('button', { name: 'Cancel' }).click();
  goOn();
  const cancelled = await workbench.notification(/\d+ of 12 dialogues played.* You canceled the rest\./);
  await cancelled.getByRole('button', { name: 'Continue' }).click();
  const told = await workbench.notification(
    /starter-world-train-1: \d+ dialogues played, \d+ of \d+ solved\./,
  );
  // The earlier session is another webview.
  await workbench.closeAllEditors();
  await told.getByRole('button', { name: 'New Run…' }).click();
  await moreSettings(workbench).click();
  const pack = session().getByRole('combobox', { name: 'Pack' }).locator('option:checked');
  await expect.poll(() => pack.textContent()).toMatch(/starter-world-train-1.*\(12\)/);
  await dismissNotifications();
  await workbench.runCommand('View: Close Editor');
});

test('downloads a published pack only after its licence was accepted', async () => {
  const question = workbench.page.locator('.monaco-dialog-box');
  for (const answer of ['Cancel', 'Accept and Download']) {
    await titleButton('Add Tasks…', workbench.quickInput.listed('Download ColBench…'));
    await workbench.quickInput.pick('Download ColBench…');
    await workbench.quickInput.pick('ColBench, tasks for evaluation');
    await question.getByText('CC BY-NC 4.0').waitFor();
    expect(hub.requests).toEqual([]);
    await question.getByRole('button', { name: answer }).click();
  }
  await task(/^test, 300 tasks/).waitFor();
});

test('walks through Tandem in seven steps', async () => {
  await dismissNotifications();
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.quickInput.pick('Get Started with Tandem');
  const steps = workbench.page.locator('.getting-started-step');
  await expect.poll(() => steps.count()).toBe(7);
  await pictures('tasks-walkthrough');
});

test('plays the next task and opens a new run by two keys each, wherever the focus is', async () => {
  await workbench.setSize(1280, 800);
  await workbench.closeAllEditors();
  const dialogue = session().getByRole('main', { name: 'Dialogue' });
  await pressChord(workbench.page, ['Control+K', 'Control+Alt+P'], dialogue);
  await dialogue.click();
  const form = workbench.page.getByRole('tab', { name: 'New Run' });
  await pressChord(workbench.page, ['Control+K', 'Control+Alt+N'], form);
  await workbench.runCommand('View: Close Editor');
});

test('says beside the keys of a session what it is about, and leads to its page of the documentation', async () => {
  await workbench.setSize(1280, 800);
  await session().getByText('keys', { exact: true }).click();
  await session().getByText('You know what the function must do').waitFor();
  await accessiblePictures(workbench, session(), 'session-help', allThemes);
  await workbench.runCommand('View: Maximize Editor Group and Hide Side Bars');
  await workbench.setSize(400, 800);
  await workbench.screenshot('session-help-narrow');
  await workbench.setSize(1280, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await session().getByRole('link', { name: 'Open help' }).click();
  await workbench.page.getByRole('tab', { name: 'session.md' }).waitFor();
  await workbench.closeAllEditors();
});

test('opens the page about a view from its title', async () => {
  await workbench.runCommand('View: Show Tandem');
  await workbench.openViews('Tasks');
  const help = pane().getByRole('button', { name: /^Help: tasks from your packs/ });
  await pane().hover();
  await pointAt(help, workbench.page.getByRole('tooltip', { name: /Help: tasks/ }).first());
  await pictures('tasks-help-button');
  await help.click();
  await workbench.page.getByRole('tab', { name: 'tasks.md' }).waitFor();
  await session().getByRole('heading', { name: 'The Tasks view' }).waitFor();
  await pictures('tasks-help');
});
