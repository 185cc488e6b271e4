import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { showRuns } from './runsView';
import { allThemes } from './themes';

// The runs were prepared and never started, which is all that their names, tags and notes need.

let workspace: string;
let workbench: WorkbenchDriver;

const rowIn = ({ page }: WorkbenchDriver, name: RegExp): Locator =>
  page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name }).first();
const row = (name: RegExp): Locator => rowIn(workbench, name);
const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const widget = (): Locator => workbench.page.locator('.quick-input-widget');
const data = (): string => path.join(workspace, '.tandem');

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-run-notes-'));
  for (const [id, name] of [
    ['20261120-220501-k3f9', 'first try'],
    ['20261120-220502-a1b2', 'second try'],
  ] as const) {
    const folder = path.join(data(), 'runs', id);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'run.json'), JSON.stringify({ name, model: { base: 'owner/model' } }));
  }
  workbench = await startWorkbench({ extension: root, workspace });
  await showRuns(workbench);
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('a run is renamed by F2: its row, its open page, another window and the command line have the new name', async () => {
  await row(/^second try/).click();
  await view().getByRole('heading', { name: 'second try' }).waitFor();
  // The panel has the focus now.
  await workbench.page.getByRole('tree', { name: 'Runs' }).focus();
  await workbench.page.keyboard.press('F2');
  await widget().getByText('Rename second try').waitFor();
  await workbench.screenshot('run-notes-rename');
  await workbench.answer(/^Name of the run/, 'twice the NLL');
  await row(/^twice the NLL, paused/).waitFor();
  await view().getByRole('heading', { name: 'twice the NLL' }).waitFor();
  await workbench.page.locator('.tab', { hasText: 'twice the NLL' }).waitFor();
  const other = await workbench.anotherWindow();
  await showRuns(other);
  await rowIn(other, /^twice the NLL/).waitFor();
  await workbench.chooseInMenu(row(/^first try/), 'Rename Run…');
  await workbench.answer(/^Name of the run/, 'plain');
  await rowIn(other, /^plain/).waitFor();
  await other.close();
  const said = execFileSync(process.execPath, ['dist/tandem.js', 'runs', '--data', data()], { cwd: root });
  expect(said.toString()).toMatch(/k3f9 .* plain/);
});

test('several runs are tagged at once; a tag that is too long is refused, and one that is taken out goes', async () => {
  await row(/^plain/).click();
  await row(/^twice the NLL/).click({ modifiers: ['ControlOrMeta'] });
  await workbench.chooseInMenu(row(/^plain/), 'Tags of Run…');
  await widget().getByText('Tags of 2 Runs').waitFor();
  await workbench.answer(/^Words to find the run by/, 'paper, seed 2');
  await row(/^plain, paused, tags: paper, seed 2$/).waitFor();
  await row(/^twice the NLL, paused, tags: paper, seed 2$/).waitFor();
  await row(/^plain/).click();
  await workbench.chooseInMenu(row(/^plain/), 'Tags of Run…');
  await widget()
    .getByText(/In use: paper, seed 2/)
    .waitFor();
  await widget().locator('input.input').fill('x'.repeat(41));
  await widget()
    .getByText(/is too long: write at most 40 characters for a tag/)
    .waitFor();
  await workbench.screenshot('run-notes-tags');
  await widget().locator('input.input').fill('paper');
  await workbench.answer(/^Words to find the run by/);
  await row(/^plain, paused, tags: paper$/).waitFor();
  expect((await new Runs(data()).find('a1b2')).tags).toEqual(['paper', 'seed 2']);
});

test('a run is found by its note, and opened', async () => {
  await row(/^twice the NLL/).click();
  await workbench.chooseInMenu(row(/^twice the NLL/), 'Note on Run…');
  await workbench.answer(/^What the run is for/, 'Does more NLL keep the protocol?');
  await workbench.closeAllEditors();
  await row(/^twice the NLL/).hover();
  await workbench.page.locator('.monaco-hover', { hasText: 'Does more NLL keep the protocol?' }).waitFor();
  await workbench.pictures('run-notes-row', allThemes);
  await workbench.runCommand('Tandem: Find Run…');
  await widget().getByText('Does more NLL keep the protocol?').waitFor();
  await workbench.pictures('run-notes-find', allThemes);
  await widget().locator('input.input').fill('keep the protocol');
  await widget().locator('.quick-input-list-row', { hasText: 'plain' }).waitFor({ state: 'detached' });
  await workbench.page.keyboard.press('Enter');
  await view().getByRole('heading', { name: 'twice the NLL' }).waitFor();
  await workbench.setSize(400, 800);
  await workbench.screenshot('run-notes-narrow');
});
