import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { violations } from './accessibility';
import { startWorkbench, type Theme, type WorkbenchDriver } from './driver';

const source = `LIMIT = 20


def parcel_price(weight_kg):
    """The price of a parcel."""
    raise NotImplementedError


print("end")
`;
const answer = 'def parcel_price(weight_kg):\n    return 9.5 if weight_kg > 20 else 5';
const script = {
  '*': [
    'I do not know the limit.\n\nOUTPUT:\nFrom how many kilos is a parcel heavy?',
    `Now I know.\n\nOUTPUT:\nI WANT TO ANSWER:\n\`\`\`python\n${answer}\n\`\`\``,
  ],
};

let workspace: string;
let workbench: WorkbenchDriver;

/** The machine may be busy. */
const soon = { timeout: 30_000 };

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const chat = () => workbench.page.locator('.interactive-session');
const file = () => path.join(workspace, 'shop.py');

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-chat-'));
  await mkdir(path.join(workspace, '.vscode'));
  await writeFile(file(), source);
  await writeFile(
    path.join(workspace, 'test_shop.py'),
    'assert parcel_price(1) == 5\nassert parcel_price(21) == 9.5\n',
  );
  await writeFile(path.join(workspace, 'agent.json'), JSON.stringify(script));
  const settings = {
    'tandem.agent': 'script:agent.json',
    'tandem.simulator': 'rules',
    'files.autoSave': 'off',
  };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
  workbench = await startWorkbench({
    extension: root,
    workspace,
    // Models that call no tools are not offered in agent mode.
    settings: { 'chat.agent.enabled': false, 'chat.newSession.defaultMode': 'ask' },
  });
  // A step that fails makes all later ones fail: they should not each wait for minutes.
  workbench.page.setDefaultTimeout(45_000);
  await workbench.activityBar('Tandem').click();
  // What is asked of Tandem before it is awake waits, longer than these tests do.
  await workbench.page
    .getByRole('tree', { name: 'Models' })
    .getByRole('treeitem', { name: /^starter/ })
    .waitFor();
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

async function pictures(name: string): Promise<void> {
  for (const theme of ['light', 'dark', 'hc-dark'] satisfies Theme[]) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`${name}-${theme}`);
  }
}

/** Opens the file with the cursor in its function. */
async function openFile(): Promise<void> {
  const { page } = workbench;
  await page.keyboard.press('F1');
  const input = page.locator('.quick-input-widget input.input');
  await input.fill('shop.py:5');
  await page.locator('.quick-input-list-row', { hasText: 'shop.py' }).first().waitFor();
  await input.press('Enter');
  await page.locator('.editor-instance', { hasText: 'parcel_price' }).first().waitFor();
}

/** What the log holds, in order. */
async function logged(): Promise<{ event: string; outcome?: string }[]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { event: string; outcome?: string });
}

test('collaborates on a function of the person’s own, from the editor’s menu', async () => {
  const { page } = workbench;
  await openFile();
  const code = page.locator('.view-line', { hasText: 'def parcel_price' }).first();
  await workbench.chooseInMenu(code, 'Collaborate on This Function…');
  const input = page.locator('.quick-input-widget input.input');
  await expect.poll(() => input.inputValue(), soon).toBe('I need a Python function: The price of a parcel.');
  await workbench.screenshot('own-request');
  await input.press('Enter');
  await session().getByText('what your function has to do').waitFor();
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await session().getByText('From how many kilos is a parcel heavy?').waitFor();
  await pictures('own-session');
  expect(await violations(session())).toEqual([]);
});

test('accepts the answer as a change of the file, which is logged and can be undone', async () => {
  const { page } = workbench;
  await session().getByRole('textbox', { name: 'Your reply to the agent' }).fill('Above 20.');
  await page.keyboard.press('Enter');
  await page.locator('.tab', { hasText: 'shop.py: file ↔ answer' }).waitFor();
  await page.locator('.diff-editor, .monaco-diff-editor').first().waitFor();
  await pictures('own-change');
  await page
    .getByRole('button', { name: /^Accept Answer/ })
    .first()
    .click();
  await page.locator('.tab', { hasText: 'file ↔ answer' }).waitFor({ state: 'detached' });
  await page.locator('.view-line', { hasText: 'return 9.5 if weight_kg' }).first().waitFor();
  await workbench.screenshot('own-accepted');
  await expect
    .poll(async () => (await logged()).filter(({ event }) => event === 'outcome'), soon)
    .toMatchObject([{ outcome: 'accepted' }]);
  await page.keyboard.press('Control+S');
  await expect
    .poll(() => readFile(file(), 'utf8'), soon)
    .toBe(source.replace(/def parcel[\s\S]*Error/, answer));
  await page.keyboard.press('Control+Z');
  await page.locator('.view-line', { hasText: 'raise NotImplementedError' }).first().waitFor();
  await page.keyboard.press('Control+Y');
  await page.locator('.view-line', { hasText: 'return 9.5 if weight_kg' }).first().waitFor();
  await session().getByRole('button', { name: 'Review the change' }).waitFor();
  expect(await violations(session())).toEqual([]);
});

test('finds the starter model in the picker of the chat', async () => {
  const { page } = workbench;
  await workbench.runCommand('Notifications: Clear All Notifications');
  // The cursor still stands in the function.
  await workbench.runCommand('Chat: Open Chat');
  await chat().locator('.interactive-input-part').getByText('starter').first().click();
  await page.waitForTimeout(1000);
  await workbench.screenshot('chat-picker');
  await page.keyboard.press('Escape');
});

test('asks @tandem, which asks back and then answers with code that can be tested', async () => {
  const { page } = workbench;
  const input = chat().locator('.interactive-input-part .monaco-editor').last();
  await input.click();
  await page.keyboard.type('@tandem ');
  await page.keyboard.type('I need the price of a parcel.');
  await workbench.screenshot('chat-typed');
  await page.keyboard.press('Enter');
  await chat().getByText('From how many kilos is a parcel heavy?').waitFor();
  expect(await chat().getByText('I do not know the limit').count()).toBe(0);
  await workbench.screenshot('chat-asks');
  await input.click();
  await page.keyboard.type('Above 20.');
  await page.keyboard.press('Enter');
  await chat().getByText('return 9.5 if weight_kg').first().waitFor();
  await pictures('chat-answers');
  await chat().getByRole('button', { name: 'Run Tests' }).click();
  await workbench.notification(/2 of 2 tests passed/);
});
