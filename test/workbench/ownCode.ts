import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { realTrainer } from '../fixtures/trainer';
import { chatSettings } from './chatView';
import type { WorkbenchDriver } from './driver';
import { insisting } from './retries';
import { startWorkbench } from './launch';

export const source = `LIMIT = 20


def parcel_price(weight_kg):
    """The price of a parcel."""
    raise NotImplementedError


print("end")
`;
export const tests = `from shop import parcel_price


def test_light():
    assert parcel_price(1) == 5


def test_heavy():
    assert parcel_price(21) == 9.5
`;
/** The agent's replacement of the function. */
export const code = 'def parcel_price(weight_kg):\n    return 9.5 if weight_kg > 20 else 5';

const asks = 'I do not know the limit.\n\nOUTPUT:\nFrom how many kilos is a parcel heavy?';
/** Its message after *Answer now*. */
export const asksAgain = 'Is a parcel of 20 kilos heavy?';
const solves = `Now I know.\n\nOUTPUT:\nI WANT TO ANSWER:\n\`\`\`python\n${code}\n\`\`\``;

/** The fact that the server's model drafts. */
export const limitFact = {
  topic: 'weight limit',
  keywords: ['heavy', 'limit'],
  answers: ['Above 20 kg a parcel is heavy.'],
};

/** A workbench on a folder with a user's function, its tests, and an agent that asks once and then answers. */
export interface OwnCode {
  readonly workspace: string;
  /** File of the function. */
  readonly file: string;
  /** The agent's server, which the settings name `Mine`. */
  readonly server: ChatServer;
  readonly workbench: WorkbenchDriver;
  /** Replaces the workspace's settings. */
  configure(settings: Readonly<Record<string, unknown>>): Promise<void>;
  close(): Promise<void>;
}

export async function startOnOwnCode(environment?: Readonly<Record<string, string>>): Promise<OwnCode> {
  const workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-own-'));
  const server = await startChatServer({
    reply: ({ body }) => {
      if (body.messages[0]?.content.includes('JSON array') === true)
        return answer(JSON.stringify([limitFact]));
      if (body.messages.at(-1)!.content.includes('Please answer now')) return answer(`OUTPUT:\n${asksAgain}`);
      return answer(body.messages.some(({ role }) => role === 'assistant') ? solves : asks);
    },
    models: ['tiny'],
  });
  const configure = async (settings: Readonly<Record<string, unknown>>): Promise<void> => {
    const all = {
      'tandem.agent': 'script:agent.json',
      'tandem.simulator': 'rules',
      'tandem.servers': [{ name: 'Mine', baseUrl: server.url, model: 'tiny' }],
      'files.autoSave': 'off',
      'python.defaultInterpreterPath': realTrainer().python,
      ...settings,
    };
    await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(all));
  };
  await mkdir(path.join(workspace, '.vscode'));
  await writeFile(path.join(workspace, 'shop.py'), source);
  await writeFile(path.join(workspace, 'test_shop.py'), tests);
  await writeFile(path.join(workspace, 'agent.json'), JSON.stringify({ '*': [asks, solves] }));
  await configure({});
  const workbench = await startWorkbench({
    extension: root,
    workspace,
    settings: chatSettings,
    ...(environment && { environment }),
  });
  await workbench.showTandem();
  await workbench.openViews('Tasks', 'Models');
  // Requests before Tandem is active wait longer than these tests do.
  await workbench.page
    .getByRole('tree', { name: 'Models' })
    .getByRole('treeitem', { name: /^starter,/ })
    .waitFor();
  return {
    ...{ workspace, server, workbench, configure },
    file: path.join(workspace, 'shop.py'),
    close: async () => {
      await workbench.close();
      await server.close();
      await rm(workspace, { recursive: true, force: true });
    },
  };
}

export const lineOf = ({ page }: WorkbenchDriver, text: string | RegExp): Locator =>
  page.locator('.editor-instance .view-line', { hasText: text }).first();

export const quickInputOf = ({ page }: WorkbenchDriver): Locator =>
  page.locator('.quick-input-widget input.input');

/** Opens a file of the workspace, optionally at a line, as in `shop.py:5`. */
export async function openFile(workbench: WorkbenchDriver, name: string): Promise<void> {
  const { page } = workbench;
  const [file = ''] = name.split(':');
  const begins = new RegExp(`^${file.replace('.', String.raw`\.`)}`);
  await insisting(async (options) => {
    await page.keyboard.press('F1');
    await quickInputOf(workbench).fill(name, options);
    // Files that were open before come first, and the others a moment later.
    const found = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: begins });
    await found.waitFor(options);
    await quickInputOf(workbench).press('Enter', options);
    await page.locator('.tab.active', { hasText: begins }).waitFor(options);
  });
}

/** Opens the file with the cursor in its function. */
export async function openFunction(workbench: WorkbenchDriver): Promise<void> {
  await openFile(workbench, 'shop.py:5');
  await lineOf(workbench, 'def parcel_price').waitFor();
}

/** Line on which the function begins. */
const BEGINS = 4;

/** Selects the whole function, to the beginning of the line behind it. */
export async function selectFunction(workbench: WorkbenchDriver, lines: number): Promise<void> {
  const { page } = workbench;
  const selected = new RegExp(`Ln ${BEGINS + lines}, Col 1 \\(\\d+ selected\\)`);
  // Another view may take the focus from the file, and with it the keys.
  await insisting(async (options) => {
    await lineOf(workbench, 'def parcel_price').click(options);
    await page.keyboard.press('Home');
    for (let count = 0; count < lines; count += 1) await page.keyboard.press('Shift+ArrowDown');
    await page.locator('.statusbar-item', { hasText: selected }).waitFor(options);
  });
}
