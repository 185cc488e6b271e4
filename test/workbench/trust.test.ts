import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { LogEvent } from '../../src/core/trajectory/event';
import { chatSettings } from './chatView';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';

const turns = ['At how many kilograms?', 'How much more?'].map((text) => `OUTPUT:\n${text}`);

let workspace: string;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');

async function start(isRestricted: boolean): Promise<void> {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-trust-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  await writeFile(path.join(workspace, 'agents', 'two.json'), JSON.stringify(turns));
  const settings = { 'tandem.agent': 'script:agents/two.json', 'tandem.simulator': 'rules' };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
  // The agent setting of an untrusted workspace is ignored; that of the user applies.
  const user = isRestricted ? { 'tandem.agent': 'starter', ...chatSettings } : {};
  if (isRestricted) {
    await leaveRun('paused critic');
  }
  workbench = await startWorkbench({ extension: root, workspace, isRestricted, settings: user });
  await workbench.showTandem();
}

/** Creates a paused run, which could be resumed. */
async function leaveRun(name: string): Promise<void> {
  const folder = path.join(workspace, '.tandem', 'runs', '20260101-000000-one');
  await mkdir(folder, { recursive: true });
  const configuration = { name, method: 'sweet-rl', model: { base: 'tiny' } };
  await writeFile(path.join(folder, 'run.json'), JSON.stringify(configuration));
  const events = [
    { event: 'state', state: 'running', stage: 'critic' },
    { event: 'state', state: 'stopped', stage: 'critic' },
  ];
  const lines = events.map((event) => JSON.stringify({ version: 1, at: '2026-01-01T00:00:00Z', ...event }));
  await writeFile(path.join(folder, 'events.jsonl'), `${lines.join('\n')}\n`);
}

async function stop(): Promise<void> {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
}

/** Reads the bytes of every file of the data folder. A file may go meanwhile; a poll reads them again then. */
async function dataFolder(): Promise<string> {
  const entries = await readdir(path.join(workspace, '.tandem'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), 'latin1'));
  return (await Promise.all(texts)).join('\n');
}

async function consents(): Promise<LogEvent[]> {
  const lines = (await dataFolder()).split('\n').filter((line) => line.includes('"event":"consent"'));
  return lines.map((line) => JSON.parse(line) as LogEvent);
}

async function openTask(): Promise<void> {
  await openRow(
    workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }),
    session().getByRole('heading', { name: 'Parcel surcharge' }),
  );
}

describe('a developer', () => {
  beforeAll(() => start(false));
  afterAll(stop);

  test('is told what is kept and where, and chooses how far it may go, by keyboard', async () => {
    await openTask();
    const local = session().getByRole('radio', { name: /Keep on this machine only/ });
    await local.waitFor();
    await expect.poll(() => local.isChecked()).toBe(true);
    await session().getByText('Learn more').first().click();
    await session().getByText(path.join(workspace, '.tandem')).waitFor();
    await session().getByRole('textbox', { name: 'Pseudonym' }).fill('zebulon');
    await local.focus();
    await local.press('ArrowDown');
    await session()
      .getByRole('radio', { name: 'May be exported', exact: true, checked: true })
      .press('Enter');
    await session().getByText('At how many kilograms?').waitFor();
    await expect.poll(consents).toMatchObject([{ pseudonym: 'zebulon', level: 'export' }]);
  });

  test('changes the consent, which is logged again and shown in no form', async () => {
    await workbench.runCommand('Tandem: Change Pseudonym and Consent…');
    for (const step of ['(1/3)', '(2/3)']) await workbench.quickInput.answer(step);
    await workbench.quickInput.widget.getByText('(3/3)').waitFor();
    await workbench.quickInput.widget.locator('input.input').press('ArrowUp');
    await workbench.quickInput.answer('(3/3)');
    await workbench.notification(/Logged for zebulon: keep on this machine only/);
    await expect
      .poll(async () => (await consents()).at(-1))
      .toMatchObject({ pseudonym: 'zebulon', level: 'local' });
  });

  test('deletes all of it, also the reply that was begun', async () => {
    const composer = session().getByRole('textbox', { name: 'Your reply to the agent' });
    await composer.fill('More than kestrel kilograms.');
    await composer.press('Enter');
    await session().getByText('How much more?').waitFor();
    await composer.fill('kestrel begun');
    await workbench.draftKept('kestrel begun');
    await expect.poll(dataFolder).toMatch(/zebulon[\s\S]*kestrel/);
    await workbench.runCommand('Tandem: Delete My Data…');
    await workbench.quickInput.pick('you, 1 dialogue');
    const dialog = workbench.page.getByRole('dialog', { name: /Delete everything of zebulon/ });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await workbench.notification(/All data of zebulon has been deleted from .*: 1 dialogue\./);
    await expect.poll(dataFolder).not.toMatch(/zebulon|kestrel/);
  });

  test('is asked anew afterwards', async () => {
    await openTask();
    const pseudonym = session().getByRole('textbox', { name: 'Pseudonym' });
    await pseudonym.waitFor();
    await expect.poll(() => pseudonym.inputValue()).toMatch(/^developer-/);
  });
});

describe('in a workspace that is not trusted', () => {
  beforeAll(() => start(true));
  afterAll(stop);

  test('a task is read, and the session says at once why nothing runs and how that is changed', async () => {
    await openTask();
    await workbench.page.getByRole('tab', { name: /parcel-surcharge\.reference\.py/ }).waitFor();
    await session()
      .getByText('Nothing is played in a workspace that is not trusted.', { exact: false })
      .waitFor();
    await session().getByRole('button', { name: 'Manage Workspace Trust' }).waitFor();
    await expect.poll(() => session().getByRole('button', { name: 'Agree and start' }).count()).toBe(0);
    expect(existsSync(path.join(workspace, '.tandem', 'log'))).toBe(false);
  });

  test('no run folder is read, and the person is told why none begins', async () => {
    const { page } = workbench;
    await workbench.closeAllEditors();
    await workbench.openViews('Runs');
    await page.getByText('its training runs are not read', { exact: false }).waitFor();
    await workbench.runCommand('Tandem: New Run…');
    await workbench.notification(/Nothing is trained in a workspace that is not trusted/);
    await workbench.clearNotifications();
  });

  test('the chat has no model of Tandem, and @tandem does not answer', async () => {
    const chat = workbench.page.locator('.part.auxiliarybar .interactive-session');
    await workbench.runCommand('Chat: Open Chat');
    // The picker names no model.
    await chat.locator('.interactive-input-part').getByText('Models', { exact: true }).waitFor();
    await chat.locator('.interactive-input-part .monaco-editor').last().click();
    await workbench.page.keyboard.insertText('@tandem What is a parcel?');
    await workbench.page.keyboard.press('Enter');
    // Without any model the editor asks no participant. test/unit/editor/chat/participant.test.ts tests Tandem's
    // refusal.
    await chat.getByText('Language model unavailable').waitFor();
  });

  test('a model is not connected, and the person is told why', async () => {
    await workbench.runCommand('Tandem: Choose Agent…');
    const told = await workbench.notification(/Models are not connected in a workspace that is not trusted/);
    await told.getByRole('button', { name: 'Manage Workspace Trust' }).click();
    await workbench.page.getByText('You are in Restricted Mode').first().waitFor();
  });

  test('its runs are read once it is trusted', async () => {
    const { page } = workbench;
    await page.getByRole('button', { name: 'Trust', exact: true }).click();
    await workbench.openViews('Runs');
    await page
      .getByRole('tree', { name: 'Runs' })
      .getByRole('treeitem', { name: /^paused critic/ })
      .waitFor();
  });
});
