import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Hub } from '../fixtures/hub';
import { accessiblePictures } from './accessibility';
import { gradedHeading, type WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
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
  await writeFile(path.join(folder, 'given.jsonl'), `${row('given-one')}\n{"id": "bad"}\n`);
  hub = await Hub.start(['backend_tasks/test.jsonl'], Buffer.from(published));
  workbench = await startWorkbench({
    extension: root,
    others: [path.resolve('test/fixtures/tool-caller')],
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
  await workbench.page.getByText('Each dialogue that you play is logged here').waitFor();
  await pictures('tasks-welcome');

  await click(workbench.page.getByRole('button', { name: 'Play First Task' }));
  await click(session().getByRole('button', { name: 'Agree and start' }));
  const composer = session().getByRole('textbox', { name: 'Your reply to the agent' });
  await composer
    .or(session().getByRole('heading', { name: gradedHeading }))
    .first()
    .waitFor();
  expect(clicks).toBe(2);
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

test('sees packs with their counts, and each task with its state', async () => {
  await workbench.openViews('Tasks');
  await task(/^starter-world, 24 tasks, 1 (draft|done)/).waitFor();
  await task(/^written-by-hand, 32 tasks/).waitFor();
  await expect
    .poll(() =>
      tasks()
        .getByRole('treeitem', { name: /, new$/ })
        .count(),
    )
    .toBeGreaterThan(5);
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

test('reads the guidelines again by the link in the header of the session', async () => {
  await session().getByRole('button', { name: 'guidelines' }).click();
  await activeTab(/written-by-hand\.guidelines\.md/).waitFor();
});

test('opens reference, tests and guidelines from the menu of a task, and copies its id', async () => {
  const parking = task(/^Parking bill, new$/);
  await chooseInMenu(parking, 'Open Reference', activeTab(/^parking-bill\.reference\.py/));
  await chooseInMenu(parking, 'Open Tests', activeTab(/^parking-bill\.tests\.py/));
  await chooseInMenu(parking, 'Open Guidelines', activeTab(/starter-world\.guidelines\.md/));
  await chooseInMenu(parking, 'Copy Task ID');
  await expect.poll(() => workbench.clipboard()).toMatch(/^starter-development-\w+$/);
});

test('skips a task from the list with a reason, which the list then shows', async () => {
  await chooseInMenu(
    task(/^Parking bill, new$/),
    'Skip Task…',
    workbench.quickInput.listed('The request is unclear'),
  );
  await workbench.quickInput.pick('The request is unclear');
  await task(/^Parking bill, skipped: the request is unclear$/).waitFor();
});

test('plays from the list, and looks through the dialogues about a task', async () => {
  const skipped = task(/^Parking bill, skipped/);
  await chooseInMenu(skipped, 'Play Task', activeTab(/^Parking bill/));
  await chooseInMenu(
    task(/^Lot bill, (draft|\d+\/10 tests)/),
    'Show Dialogues…',
    workbench.quickInput.listed('agent: starter'),
  );
  await workbench.quickInput.pick('agent: starter');
  await activeTab(/^Lot bill/).waitFor();
});

test('filters the list by state, sees that it is filtered, and clears it', async () => {
  await titleButton('Filter Tasks…', workbench.quickInput.listed('skipped'));
  await workbench.quickInput.pickSeveral('skipped');
  await pane().getByText('Filter: skipped. 1 of 56 tasks are shown.').waitFor();
  await pictures('tasks-filtered');
  await titleButton('Clear Task Filter', task(/, new$/));
  await pane().getByText('Filter: skipped.').waitFor({ state: 'hidden' });
});

test('adds a pack by file, and is told of its counts and its bad line', async () => {
  await titleButton('Add Pack…', quickInput().getByText('From a File…'));
  await workbench.screenshot('tasks-add');
  await workbench.quickInput.pick('From a File…');
  await quickInput().getByText('Add Packs').waitFor();
  await workbench.quickInput.chooseFile(path.join(folder, 'given.jsonl'));
  await task(/^given, 1 task, 1 bad line/).waitFor();
  const told = await workbench.notification(
    /given\.jsonl is in the list: 1 task, 1 test\. 1 line is not a task, the first is line 2/,
  );
  await told.getByRole('button', { name: 'Show Line 2' }).click();
  await activeTab(/^given\.jsonl/).waitFor();
  await dismissNotifications();
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
  const target = task(/^given,/);
  for (const event of ['dragenter', 'dragover', 'drop'])
    await target.dispatchEvent(event, { dataTransfer: data });
  await task(/^dropped, 2 tasks/).waitFor();
  await workbench.notification(/dropped\.jsonl is in the list: 2 tasks, 2 tests\./);
  await dismissNotifications();
});

test('plays the next task of a pack, and takes the pack out of the list and back', async () => {
  await chooseInMenu(task(/^dropped, 2 tasks/), 'Play Next Task of Pack', activeTab(/^Dropped one/));
  await chooseInMenu(task(/^dropped, 2 tasks/), 'Remove from List');
  const told = await workbench.notification(/dropped is no longer in the list\. Its file stays\./);
  await task(/^dropped,/).waitFor({ state: 'detached' });
  expect(await readdir(workspace)).toContain('dropped.jsonl');
  await told.getByRole('button', { name: 'Undo' }).click();
  await task(/^dropped, 2 tasks/).waitFor();
});

test('generates tasks to learn from and tasks to measure on, which the list shows, and never the same file twice', async () => {
  const generate = async (purpose: string, count: string): Promise<void> => {
    await workbench.runCommand('Tandem: Generate Tasks…');
    await workbench.quickInput.pick(purpose);
    await workbench.quickInput.answer('How many tasks?', count);
    const decisions = /decisions that only the collaborator knows/;
    await quickInput().getByText(decisions).first().waitFor();
    await workbench.screenshot('tasks-generate');
    await workbench.quickInput.answer(decisions);
  };
  await generate('Tasks to learn from', '60');
  await task(/^starter-world-train-1, 60 tasks/).waitFor();
  await generate('Tasks to learn from', '30');
  await task(/^starter-world-train-2, 30 tasks/).waitFor();
  await generate('Tasks to measure on', '20');
  await task(/^starter-world-held-out-1, 20 tasks/).waitFor();
  await workbench.notification(/Generated 20 tasks to measure on: starter-world-held-out-1\.jsonl/);
  const lines = async (name: string): Promise<string[]> =>
    (await readFile(path.join(workspace, name), 'utf8')).trimEnd().split('\n');
  expect(await lines('starter-world-train-1.jsonl')).not.toContain(
    (await lines('starter-world-train-2.jsonl'))[0],
  );
  const told = await workbench.notification(/Generated 60 tasks to learn from: starter-world-train-1\.jsonl/);
  await told.getByRole('button', { name: 'Collect Dialogues…' }).click();
  await quickInput().getByText('Collect dialogues of starter-world-train-1').waitFor();
});

test('collects dialogues of the generated tasks, and the form of a run begins with these and says why its settings are so', async () => {
  const answer = async (question: RegExp, suggested: string, value: string): Promise<void> => {
    await quickInput().getByText(question).waitFor();
    const input = quickInput().locator('input.input');
    await expect.poll(() => input.inputValue()).toBe(suggested);
    await workbench.quickInput.answer(question, value);
  };
  await answer(/How many of its 60 tasks/, '60', '4');
  await answer(/How many dialogues per task/, '4', '3');
  await workbench.quickInput.listed('Agent: starter').waitFor();
  // No dialogue of it is finished in this log yet.
  await quickInput()
    .getByText('Tokens are known as soon as starter has played a dialogue: begin with a few.')
    .waitFor();
  await pictures('tasks-collect');
  const isHeld = workbench.hold(/inference\.js/);
  await workbench.quickInput.pick('Play 12 dialogues');
  const goOn = await isHeld;
  const working = await workbench.notification(/starter plays with rules/);
  await working.getByRole('button', { name: 'Cancel' }).click();
  goOn();
  const cancelled = await workbench.notification(
    /starter-world-train-1: \d+ of 12 dialogues played.* You cancelled the rest\./,
  );
  await pictures('tasks-collect-cancelled');
  await cancelled.getByRole('button', { name: 'Continue' }).click();
  const told = await workbench.notification(
    /starter-world-train-1: \d+ dialogues played, \d+ of \d+ solved\./,
  );
  // The earlier session is another webview.
  await workbench.closeAllEditors();
  await told.getByRole('button', { name: 'New Run…' }).click();
  const form = session();
  await form.getByRole('heading', { name: 'Training data' }).waitFor();
  const chosen = (label: string): Locator =>
    form.getByRole('combobox', { name: label }).locator('option:checked');
  await expect.poll(() => chosen('Pack').textContent()).toMatch(/starter-world-train-1.*\(12\)/);
  await expect.poll(() => chosen('Agent').textContent()).toMatch(/^starter \(12\)/);
  await form.getByText(/Recommended for the starter model/).waitFor();
  await form.getByText(/These 12 are too few to expect a better agent/).waitFor();
  await form.getByRole('button', { name: 'Generate tasks…' }).waitFor();
  await dismissNotifications();
  await pictures('tasks-new-run');
  await workbench.runCommand('View: Close Editor');
});

test('lets an agent of the editor collect only after they have said yes', async () => {
  const question = workbench.page.locator('.monaco-dialog-box');
  const call = async (answer: string): Promise<void> => {
    await workbench.runCommand('Tests: Collect as an Agent');
    await question.getByText('Collect dialogues?').waitFor();
    await question.getByText(/^This plays up to 1 dialogue of starter with rules/).waitFor();
    await workbench.screenshot('tasks-tool');
    await question.getByRole('button', { name: answer, exact: true }).click();
    await question.waitFor({ state: 'detached' });
  };
  await call('Cancel');
  await workbench.notification(/The tool failed: /);
  await dismissNotifications();
  await call('Yes');
  await workbench.notification(/The tool said: .*1 dialogue/);
  await dismissNotifications();
});

test('downloads a published pack only after its licence was accepted', async () => {
  const choose = async (answer: string): Promise<void> => {
    const question = workbench.page.locator('.monaco-dialog-box');
    await titleButton('Add Pack…', workbench.quickInput.listed('Download ColBench…'));
    await workbench.quickInput.pick('Download ColBench…');
    await workbench.quickInput.pick('ColBench, tasks for evaluation');
    await question.getByText('CC BY-NC 4.0').waitFor();
    if (answer !== 'Cancel') await workbench.screenshot('tasks-licence');
    await question.getByRole('button', { name: answer }).click();
  };
  await choose('Cancel');
  expect(hub.requests).toEqual([]);
  expect(await readdir(workspace)).not.toContain('colbench');

  await choose('Accept and Download');
  await task(/^test, 300 tasks/).waitFor();
  const downloaded = path.join(workspace, 'colbench', 'backend_tasks', 'test.jsonl');
  expect(await readFile(downloaded, 'utf8')).toBe(published);
  await workbench.notification(/test\.jsonl is in the list: 300 tasks, 300 tests\./);
});

test('walks through Tandem in seven steps', async () => {
  await dismissNotifications();
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.quickInput.pick('Get Started with Tandem');
  const steps = workbench.page.locator('.getting-started-step');
  await expect.poll(() => steps.count()).toBe(7);
  await pictures('tasks-walkthrough');
});

test('reads the list in a narrow window', async () => {
  await workbench.setTheme('light');
  await workbench.setSize(560, 800);
  await task(/^test, 300 tasks/).waitFor();
  await workbench.screenshot('tasks-narrow');
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

test('opens the page about a view from its title, and any page from the palette', async () => {
  await workbench.runCommand('View: Show Tandem');
  await workbench.openViews('Tasks');
  await pane().hover();
  await pointAt(
    pane().getByRole('button', { name: /^Help: tasks from your packs/ }),
    workbench.page.getByRole('tooltip', { name: /Help: tasks/ }).first(),
  );
  await pictures('tasks-help-button');
  await pane()
    .getByRole('button', { name: /^Help: tasks from your packs/ })
    .click();
  await workbench.page.getByRole('tab', { name: 'tasks.md' }).waitFor();
  await session().getByRole('heading', { name: 'The Tasks view' }).waitFor();
  await pictures('tasks-help');
  await workbench.runCommand('Tandem: Open Help…');
  await workbench.quickInput.listed('Local models').waitFor();
  await workbench.screenshot('help-pages');
  await workbench.quickInput.pick('Local models');
  await workbench.page.getByRole('tab', { name: 'local-models.md' }).waitFor();
});
