import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { violations } from './accessibility';
import { startWorkbench, type Theme, type WorkbenchDriver } from './driver';

const source = `LIMIT = 20


def parcel_price(weight_kg):
    """The price of a parcel."""
    raise NotImplementedError


print("end")
`;
const code = 'def parcel_price(weight_kg):\n    return 9.5 if weight_kg > 20 else 5';
const asks = 'I do not know the limit.\n\nOUTPUT:\nFrom how many kilos is a parcel heavy?';
const solves = `Now I know.\n\nOUTPUT:\nI WANT TO ANSWER:\n\`\`\`python\n${code}\n\`\`\``;
/** A request that the starter model understands. */
const parking =
  'Please help me with the bill for parking in our garage. You get a list with the minutes of every day, and the rate per minute. We bill in whole numbers. A long stay has a highest price. The signature of the function is: def lot_bill(minutes, rate)';

let workspace: string;
let server: ChatServer;
let workbench: WorkbenchDriver;

/** The machine may be busy. */
const soon = { timeout: 30_000 };

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const composer = (): Locator => session().getByRole('textbox', { name: 'Your reply to the agent' });
const chat = (): Locator => workbench.page.locator('.part.auxiliarybar .interactive-session');
const chatInput = (): Locator => chat().locator('.interactive-input-part .monaco-editor').last();
const quickInput = (): Locator => workbench.page.locator('.quick-input-widget input.input');
const line = (text: string | RegExp): Locator =>
  workbench.page.locator('.editor-instance .view-line', { hasText: text }).first();
const change = (): Locator => workbench.page.locator('.tab', { hasText: 'shop.py: file ↔ answer' });
const file = (): string => path.join(workspace, 'shop.py');

/** A folder with a function of a person's own and its tests, and the workbench on it. */
async function start(isRestricted: boolean): Promise<void> {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-chat-'));
  server = await startChatServer({
    reply: ({ body }) => answer(body.messages.some(({ role }) => role === 'assistant') ? solves : asks),
    models: ['tiny'],
  });
  await mkdir(path.join(workspace, '.vscode'));
  await writeFile(file(), source);
  await writeFile(
    path.join(workspace, 'test_shop.py'),
    'assert parcel_price(1) == 5\nassert parcel_price(21) == 9.5\n',
  );
  await writeFile(path.join(workspace, 'agent.json'), JSON.stringify({ '*': [asks, solves] }));
  await configure({});
  workbench = await startWorkbench({
    extension: root,
    workspace,
    isRestricted,
    // Models that call no tools are not offered in agent mode.
    settings: { 'chat.agent.enabled': false, 'chat.newSession.defaultMode': 'ask' },
  });
  // A step that fails makes all later ones fail: they should not each wait for minutes.
  workbench.page.setDefaultTimeout(45_000);
  await workbench.activityBar('Tandem').click();
  await workbench.openViews('Tasks', 'Models');
  // What is asked of Tandem before it is awake waits, longer than these tests do.
  await workbench.page
    .getByRole('tree', { name: 'Models' })
    .getByRole('treeitem', { name: /^starter/ })
    .waitFor();
}

async function stop(): Promise<void> {
  await workbench.close();
  await server.close();
  await rm(workspace, { recursive: true, force: true });
}

async function configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const all = {
    'tandem.agent': 'script:agent.json',
    'tandem.simulator': 'rules',
    'tandem.servers': [{ name: 'Mine', baseUrl: server.url, model: 'tiny' }],
    'files.autoSave': 'off',
    ...settings,
  };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(all));
}

async function pictures(name: string): Promise<void> {
  for (const theme of ['light', 'dark', 'hc-dark'] satisfies Theme[]) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`${name}-${theme}`);
  }
}

/** Of a session, in which everybody can use what is drawn. */
async function accessiblePictures(name: string): Promise<void> {
  for (const theme of ['light', 'dark', 'hc-dark'] satisfies Theme[]) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`${name}-${theme}`);
    expect(await violations(session())).toEqual([]);
  }
}

/** Opens the file with the cursor in its function. */
async function openFile(): Promise<void> {
  await workbench.page.keyboard.press('F1');
  await quickInput().fill('shop.py:5');
  await workbench.page.locator('.quick-input-list-row', { hasText: 'shop.py' }).first().waitFor();
  await quickInput().press('Enter');
  await line('def parcel_price').waitFor();
}

/** Selects the whole function, to the beginning of the line behind it. */
async function selectFunction(lines: number): Promise<void> {
  await line('def parcel_price').click();
  await workbench.page.keyboard.press('Home');
  for (let count = 0; count < lines; count += 1) await workbench.page.keyboard.press('Shift+ArrowDown');
}

/** Says it to @tandem. @param isFirst it is named, with the editor's help; afterwards the chat keeps it */
async function say(text: string, isFirst = false): Promise<void> {
  const { page } = workbench;
  await chatInput().click();
  if (isFirst) {
    await page.keyboard.type('@tan');
    await page.locator('.suggest-widget .monaco-list-row.focused', { hasText: 'tandem' }).first().waitFor();
    await page.keyboard.press('Enter');
  }
  await chatInput().getByText('@tandem').waitFor();
  await page.keyboard.insertText(text);
  await page.keyboard.press('Enter');
}

/** Chooses a model in the chat's picker; when its button is drawn anew meanwhile it closes or goes astray, and is opened again. */
async function pickModel(name: string): Promise<void> {
  const picker = chat().locator('.model-picker-name');
  const list = workbench.page.locator('.action-widget');
  const search = list.getByPlaceholder('Search models');
  const quick = { timeout: 3000 };
  await vi.waitFor(
    async () => {
      if (await search.isVisible()) await workbench.page.keyboard.press('Escape');
      await search.waitFor({ state: 'hidden', ...quick });
      await picker.click(quick);
      await search.fill(name, quick);
      await list.getByRole('option', { name: new RegExp(`^${name}`) }).click(quick);
      await expect.poll(() => picker.textContent(), quick).toBe(name);
    },
    { timeout: 40_000, interval: 500 },
  );
}

/** Says what an input asks for. */
async function answerQuickInput(text: string, picture: string): Promise<void> {
  await quickInput().fill(text);
  await workbench.screenshot(picture);
  await quickInput().press('Enter');
}

interface Outcome {
  readonly outcome: string;
  readonly survived?: number;
  readonly milliseconds?: number;
}

/** What became of answers, in the order in which it was logged. */
async function outcomes(): Promise<Outcome[]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const texts = await Promise.all(
    (await readdir(folder)).map((name) => readFile(path.join(folder, name), 'utf8')),
  );
  return texts
    .flatMap((text) => text.trim().split('\n'))
    .map((text) => JSON.parse(text) as { event: string; at: string } & Outcome)
    .filter(({ event }) => event === 'outcome')
    .sort((one, other) => one.at.localeCompare(other.at));
}

describe('a developer', () => {
  beforeAll(() => start(false));
  afterAll(stop);

  test('collaborates on a function of their own, from the editor’s menu', async () => {
    await openFile();
    await workbench.chooseInMenu(line('def parcel_price'), 'Collaborate on This Function…');
    await expect
      .poll(() => quickInput().inputValue(), soon)
      .toBe('I need a Python function: The price of a parcel.');
    await workbench.screenshot('own-request');
    await quickInput().press('Enter');
    await session().getByText('what your function has to do').waitFor();
    await session().getByRole('button', { name: 'Agree and start' }).click();
    await session().getByText('From how many kilos is a parcel heavy?').waitFor();
    // No simulator knows what is in the developer's head.
    expect(
      await session()
        .getByRole('button', { name: /simulator|Suggest/i })
        .count(),
    ).toBe(0);
    await accessiblePictures('own-session');
  });

  test('rejects the answer, which leaves the file as it is and is logged', async () => {
    const { page } = workbench;
    await composer().fill('Above 20.');
    await page.keyboard.press('Enter');
    await change().waitFor();
    await page.locator('.monaco-diff-editor').first().waitFor();
    await page.locator('.statusbar-item', { hasText: 'Tandem: answered' }).waitFor();
    await workbench.screenshot('own-change-asked');
    await pictures('own-change');
    await page
      .getByRole('button', { name: /^Reject Answer/ })
      .first()
      .click();
    await change().waitFor({ state: 'detached' });
    await expect.poll(outcomes, soon).toMatchObject([{ outcome: 'rejected' }]);
    expect(await readFile(file(), 'utf8')).toBe(source);
  });

  test('looks at it again and accepts it, which can be undone', async () => {
    const { page } = workbench;
    await session().getByRole('button', { name: 'Review the change' }).click();
    await change().waitFor();
    await page
      .getByRole('button', { name: /^Accept Answer/ })
      .first()
      .click();
    await change().waitFor({ state: 'detached' });
    await line('return 9.5 if').waitFor();
    await expect.poll(outcomes, soon).toMatchObject([{ outcome: 'rejected' }, { outcome: 'accepted' }]);
    await page.keyboard.press('Control+Z');
    await line('raise NotImplementedError').waitFor();
    await page.keyboard.press('Control+Y');
    await line('return 9.5 if').waitFor();
    await page.keyboard.press('Control+S');
    const accepted = source.replace(/def parcel[\s\S]*Error/, code);
    await expect.poll(() => readFile(file(), 'utf8'), soon).toBe(accepted);
    await accessiblePictures('own-accepted');
  });

  test('edits what was accepted, and how much of it survives is logged, over a reload', async () => {
    const { page } = workbench;
    await line('return 9.5 if').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.insertText('return 9.5 if weight_kg > LIMIT else 5');
    await page.keyboard.press('Control+S');
    await expect.poll(() => readFile(file(), 'utf8'), soon).toContain('weight_kg > LIMIT');
    // With the editors the workbench puts down what Tandem keeps.
    await page.keyboard.press('F1');
    await quickInput().fill('test_shop.py');
    await page.locator('.quick-input-list-row', { hasText: 'test_shop.py' }).first().waitFor();
    await quickInput().press('Enter');
    await page.locator('.tab', { hasText: 'test_shop.py' }).waitFor();
    await workbench.kept(/test_shop\.py/);
    await workbench.reload();
    await session().getByRole('button', { name: 'Review the change' }).waitFor();
    await configure({ 'tandem.collaboration.survivalMinutes': 0 });
    await expect
      .poll(async () => (await outcomes()).at(-1), soon)
      .toMatchObject({ outcome: 'edited', survived: 0.5 });
    expect((await outcomes()).at(-1)!.milliseconds).toBeGreaterThan(1000);
    expect((await outcomes()).map(({ outcome }) => outcome)).toEqual(['rejected', 'accepted', 'edited']);
  });

  test('finds the starter model in the picker of the chat, and it answers', async () => {
    const { page } = workbench;
    await configure({ 'tandem.agent': '' });
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('View: Close All Editors');
    await workbench.runCommand('Chat: Open Chat');
    await chat().locator('.model-picker-name').click();
    await page.locator('.action-widget').getByRole('option', { name: 'Other Models' }).waitFor();
    await workbench.screenshot('chat-picker');
    await page.keyboard.press('Escape');
    await pickModel('starter');
    await say(parking, true);
    // What can be replied to a question.
    await chat().getByText('Answer now').waitFor();
    await workbench.screenshot('chat-starter');
    expect(server.requests).toEqual([]);
  });

  test('asks @tandem about what is selected, and it asks back before it answers', async () => {
    const { page } = workbench;
    await openFile();
    await selectFunction(2);
    await page
      .locator('.part.auxiliarybar')
      .getByRole('button', { name: /^New Chat/ })
      .first()
      .click();
    // The chat keeps whom it is with.
    await chatInput().getByText('@tandem').waitFor();
    await pickModel('Mine');
    await say('I need the price of a parcel.');
    await chat().getByText('From how many kilos is a parcel heavy?').waitFor();
    expect(await chat().getByText('I do not know the limit').count()).toBe(0);
    await pictures('chat-asks');
    const told = server.requests[0]!.body.messages.map(({ content }) => content).join('\n');
    expect(told).toContain('From shop.py:\n\n```python\ndef parcel_price(weight_kg):');
    expect(told).not.toContain('print("end")');
    await say('Above 20.');
    await chat().getByRole('button', { name: 'Run Tests' }).waitFor();
    await chat().locator('.view-line', { hasText: 'return 9.5 if weight_kg > 20' }).first().waitFor();
    await pictures('chat-answers');
    const last = server.requests.at(-1)!.body.messages;
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    // What was given once is not given again.
    expect(last.at(-1)!.content).toBe('Above 20.');
  });

  test('runs the answer against the tests of the workspace', async () => {
    await chat().getByRole('button', { name: 'Run Tests' }).click();
    await workbench.notification(/2 of 2 tests passed/);
    await workbench.screenshot('chat-tested');
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  test('sees the answer as a change of the file and rejects it', async () => {
    const { page } = workbench;
    await chat().getByRole('button', { name: 'Show as Change' }).click();
    await change().waitFor();
    await page.locator('.monaco-diff-editor').first().waitFor();
    await pictures('chat-change');
    const asked = await workbench.notification(/Put the answer into shop\.py\?/);
    await asked.getByRole('button', { name: 'Reject' }).click();
    await change().waitFor({ state: 'detached' });
    // The chat is not logged.
    expect(await outcomes()).toHaveLength(3);
  });

  test('inserts the answer where the selection is', async () => {
    const { page } = workbench;
    await openFile();
    await selectFunction(2);
    await chat().locator('.view-line', { hasText: 'return 9.5 if weight_kg > 20' }).first().hover();
    await chat()
      .getByRole('button', { name: /^Insert At Cursor/ })
      .click();
    await line(/weight_kg.>.20.else.5/).waitFor();
    await page.keyboard.press('Control+Z');
    await line(/weight_kg.>.LIMIT/).waitFor();
  });

  test('makes a task of the function that is selected', async () => {
    const { page } = workbench;
    await configure({});
    await workbench.runCommand('View: Close All Editors');
    await workbench.runCommand('View: Hide Secondary Side Bar');
    await openFile();
    await selectFunction(2);
    await workbench.chooseInMenu(line('def parcel_price'), 'Make Task of This Function…');
    await page.locator('.quick-input-list-row', { hasText: 'parcel_price(21)' }).waitFor();
    await workbench.screenshot('own-task-tests');
    await quickInput().press('Enter');
    await page.getByText('More calls, with semicolons between them').waitFor();
    await answerQuickInput('parcel_price(20); parcel_price(20.5)', 'own-task-calls');
    await expect
      .poll(() => quickInput().inputValue(), soon)
      .toBe('I need a Python function that does this: parcel price.');
    await answerQuickInput('I need the price of a parcel.', 'own-task-request');
    // The input waits for its check; whatever opens before cancels it.
    await quickInput().waitFor({ state: 'hidden' });
    const told = await workbench.notification(/is a task of private-tasks\.jsonl now, with 4 hidden tests/);
    await told.getByRole('button', { name: 'Show Tasks' }).click();
    const row = JSON.parse(await readFile(path.join(workspace, 'private-tasks.jsonl'), 'utf8')) as {
      problem_description: string;
      ground_truth: string;
    };
    expect(row.problem_description).toContain('I need the price of a parcel.');
    // What the function needs of its file comes along.
    expect(row.ground_truth).toContain('LIMIT = 20');
  });

  test('opens the task in a session, where the agent is graded by the hidden tests', async () => {
    const tasks = workbench.page.getByRole('tree', { name: 'Tasks' });
    await tasks.getByRole('treeitem', { name: /^Parcel price/ }).click();
    await session().getByRole('heading', { name: 'Parcel price' }).waitFor();
    await session().getByRole('button', { name: 'Start' }).click();
    await session().getByText('From how many kilos is a parcel heavy?').waitFor();
    await workbench.screenshot('own-task-session');
    await composer().fill('Above 20.');
    await composer().press('Enter');
    await session()
      .getByText(/4 of 4 tests passed/)
      .first()
      .waitFor();
    await accessiblePictures('own-task-graded');
  });

  test('compares what a run made with its base, blindly', async () => {
    const { page } = workbench;
    const run = path.join(workspace, '.tandem', 'runs', '20260101-000000-done');
    await cp(path.join(root, 'dist', 'starter'), path.join(run, 'model'), { recursive: true });
    await writeFile(
      path.join(run, 'events.jsonl'),
      `${JSON.stringify({ version: 1, at: '2026-01-01T00:00:00Z', event: 'state', state: 'done' })}\n`,
    );
    const [task] = (
      await readFile(path.join(root, 'samples', 'workspace', 'starter-world.jsonl'), 'utf8')
    ).split('\n');
    await writeFile(path.join(workspace, 'garage.jsonl'), `${task}\n`);
    // The base is a model of the hub, which the connected server serves.
    const configuration = { name: 'trained starter', method: 'sweet-rl', model: { base: 'tiny' } };
    await writeFile(path.join(run, 'run.json'), JSON.stringify(configuration));
    await workbench.runCommand('Tandem: Refresh');
    await workbench.openViews('Runs');
    const done = page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name: /^trained starter/ });
    await workbench.chooseInMenu(done, 'Compare with Base Blindly…');
    const told = await workbench.notification(
      /a choice between two now.*one of trained starter, one of tiny/,
    );
    await workbench.screenshot('compare-blindly');
    const settings = JSON.parse(
      await readFile(path.join(workspace, '.vscode', 'settings.json'), 'utf8'),
    ) as Record<string, unknown>;
    expect(settings).toMatchObject({
      'tandem.agent': 'local:.tandem/runs/20260101-000000-done/model',
      'tandem.candidates.secondAgent': `openai:tiny@${server.url}`,
      'tandem.candidates.show': true,
    });
    await told.getByRole('button', { name: 'Play Next Task' }).click();
    await session().getByRole('heading', { name: 'Lot bill' }).waitFor();
    await session().getByRole('button', { name: 'Start' }).click();
    await session().getByText('Which message of the agent is better?').waitFor();
    await accessiblePictures('compare-choice');
  });
});

describe('in a workspace that is not trusted', () => {
  beforeAll(() => start(true));
  afterAll(stop);

  test('nothing is played or graded with code of one’s own, and the person is told why', async () => {
    await openFile();
    await workbench.chooseInMenu(line('def parcel_price'), 'Collaborate on This Function…');
    await workbench.notification(/Nothing is played in a workspace that is not trusted/);
    await workbench.screenshot('own-restricted');
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.chooseInMenu(line('def parcel_price'), 'Make Task of This Function…');
    await workbench.notification(/Nothing is graded in a workspace that is not trusted/);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  test('the chat’s picker has no model of Tandem', async () => {
    await workbench.runCommand('Chat: Open Chat');
    // It names no model.
    await chat().locator('.interactive-input-part').getByText('Models', { exact: true }).waitFor();
    await workbench.screenshot('chat-restricted');
    expect(server.requests).toEqual([]);
  });
});
