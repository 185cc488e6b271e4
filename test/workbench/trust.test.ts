import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { LogEvent } from '../../src/core/trajectory/event';
import { violations } from './accessibility';
import { startWorkbench, type Theme, type WorkbenchDriver } from './driver';

const turns = ['At how many kilograms?', 'How much more?'].map((text) => `OUTPUT:\n${text}`);

let workspace: string;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const quickInput = () => workbench.page.locator('.quick-input-widget');

beforeEach(({ onTestFailed, task }) => {
  onTestFailed(async () => {
    await workbench.screenshot(`trust-failed-${task.name.slice(0, 20)}`);
  });
});

async function start(isRestricted: boolean): Promise<void> {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-trust-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  await rm(path.join(workspace, 'starter-world.jsonl'));
  await writeFile(path.join(workspace, 'agents', 'two.json'), JSON.stringify(turns));
  const settings = { 'tandem.agent': 'script:agents/two.json', 'tandem.simulator': 'rules' };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
  // What a workspace that is not trusted says of its agent does not count; what the user says does.
  const user = isRestricted ? { 'tandem.agent': 'starter' } : {};
  workbench = await startWorkbench({ extension: root, workspace, isRestricted, settings: user });
  workbench.page.setDefaultTimeout(60_000);
  await workbench.activityBar('Tandem').click();
}

async function stop(): Promise<void> {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
}

/** The bytes of every file of the data folder. */
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
  await workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }).click();
  await session().getByRole('heading', { name: 'Parcel surcharge' }).waitFor();
}

describe('a developer', () => {
  beforeAll(() => start(false));
  afterAll(stop);

  test('is told what is kept and where, and chooses how far it may go, by keyboard', async () => {
    await openTask();
    const local = session().getByRole('radio', { name: /Keep on this machine only/ });
    await local.waitFor();
    expect(await local.isChecked()).toBe(true);
    await session().getByText(path.join(workspace, '.tandem')).waitFor();
    for (const theme of ['light', 'hc-dark', 'dark'] satisfies Theme[]) {
      await workbench.setTheme(theme);
      await workbench.screenshot(`trust-consent-${theme}`);
      expect(await violations(session())).toEqual([]);
    }
    await workbench.setSize(620, 700);
    await workbench.screenshot('trust-consent-narrow');
    await workbench.setSize(1280, 800);
    await session().getByRole('textbox', { name: 'Pseudonym' }).fill('zebulon');
    await local.focus();
    await local.press('ArrowDown');
    await session()
      .getByRole('radio', { name: 'May be exported', exact: true, checked: true })
      .press('Enter');
    await session().getByText('At how many kilograms?').waitFor();
    expect(await consents()).toMatchObject([{ pseudonym: 'zebulon', level: 'export' }]);
  });

  test('changes the consent, which is logged again and shown in no form', async () => {
    await workbench.runCommand('Tandem: Change Pseudonym and Consent…');
    for (const step of ['(1/3)', '(2/3)']) {
      await quickInput().getByText(step).waitFor();
      await quickInput().locator('input.input').press('Enter');
    }
    await quickInput().getByText('(3/3)').waitFor();
    await workbench.screenshot('trust-change');
    await workbench.page.keyboard.press('ArrowUp');
    await workbench.page.keyboard.press('Enter');
    await workbench.notification(/Logged for zebulon: keep on this machine only/);
    expect((await consents()).at(-1)).toMatchObject({ pseudonym: 'zebulon', level: 'local' });
  });

  test('deletes all of it, also the reply that was begun', async () => {
    const composer = session().getByRole('textbox', { name: 'Your reply to the agent' });
    await composer.fill('More than kestrel kilograms.');
    await composer.press('Enter');
    await session().getByText('How much more?').waitFor();
    await composer.fill('kestrel begun');
    await workbench.page.waitForTimeout(500);
    expect(await dataFolder()).toMatch(/zebulon[\s\S]*kestrel/);
    await workbench.runCommand('Tandem: Delete My Data…');
    await quickInput().getByText('you, 1 dialogue').click();
    const dialog = workbench.page.getByRole('dialog', { name: /Delete everything of zebulon/ });
    await dialog.waitFor();
    await workbench.screenshot('trust-delete');
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await workbench.notification(/Everything of zebulon is gone from .*: 1 dialogue\./);
    expect(await dataFolder()).not.toMatch(/zebulon|kestrel/);
  });

  test('is asked anew afterwards', async () => {
    await openTask();
    const pseudonym = session().getByRole('textbox', { name: 'Pseudonym' });
    await pseudonym.waitFor();
    expect(await pseudonym.inputValue()).toMatch(/^developer-/);
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
    expect(await session().getByRole('button', { name: 'Agree and start' }).count()).toBe(0);
    await workbench.screenshot('trust-restricted-task');
    expect(await violations(session())).toEqual([]);
    expect(existsSync(path.join(workspace, '.tandem', 'log'))).toBe(false);
  });

  test('a model is not connected, and the person is told why', async () => {
    await workbench.runCommand('Tandem: Choose Agent…');
    const told = await workbench.notification(/Models are not connected in a workspace that is not trusted/);
    await workbench.screenshot('trust-restricted-models');
    await told.getByRole('button', { name: 'Manage Workspace Trust' }).click();
    await workbench.page.getByText('You are in Restricted Mode').first().waitFor();
  });
});
