import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { alsoSelect, chooseInMenu, openRow, pointAt, pressKey, select } from './rows';
import { showRuns } from './runsView';
import { allThemes } from './themes';

// The runs were prepared and never started, which is all that their names, tags and notes need.

let workspace: string;
let workbench: WorkbenchDriver;

const row = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name }).first();
const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const widget = (): Locator => workbench.quickInput.widget;
const listed = (text: string | RegExp): Locator => workbench.quickInput.listed(text);
const openRun = (name: string): Promise<void> =>
  openRow(row(new RegExp(`^${name}`)), view().getByRole('heading', { name }));

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-run-notes-'));
  for (const [id, name] of [
    ['20261120-220501-k3f9', 'first try'],
    ['20261120-220502-a1b2', 'second try'],
  ] as const) {
    const folder = path.join(workspace, '.tandem', 'runs', id);
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

test('a run is renamed by F2: its row and its open page have the new name', async () => {
  await openRun('second try');
  // The panel has the focus now, or takes it in a moment.
  const tree = workbench.page.getByRole('tree', { name: 'Runs' });
  await pressKey(tree, 'F2', widget().getByText('Rename second try'));
  await workbench.quickInput.answer(/^Name of the run/, 'twice the NLL');
  await row(/^twice the NLL, not started/).waitFor();
  await view().getByRole('heading', { name: 'twice the NLL' }).waitFor();
  await workbench.page.locator('.tab', { hasText: 'twice the NLL' }).waitFor();
  await chooseInMenu(row(/^first try/), 'Edit Run Details…', listed('Name'));
  await workbench.quickInput.pick('Name');
  await workbench.quickInput.answer(/^Name of the run/, 'plain');
  await row(/^plain/).waitFor();
});

test('several runs are tagged at once; a tag that is too long is refused, and one that is taken out goes', async () => {
  await openRun('plain');
  await alsoSelect(row(/^twice the NLL/));
  await chooseInMenu(row(/^plain/), 'Edit Run Details…', widget().getByText('Tags of 2 Runs'));
  await widget().getByRole('textbox').fill('paper, seed 2');
  await listed('#seed 2').waitFor();
  await widget().getByRole('textbox').press('Enter');
  await row(/^plain, not started, tags: paper, seed 2$/).waitFor();
  await row(/^twice the NLL, not started, tags: paper, seed 2$/).waitFor();
  await select(row(/^plain/));
  await chooseInMenu(row(/^plain/), 'Edit Run Details…', listed('Tags'));
  await workbench.quickInput.pick('Tags');
  await listed(/#seed 2.*2 runs/).waitFor();
  await widget().getByRole('textbox').fill('x'.repeat(41));
  await listed(/^Too long, at most 40 characters: “x/).waitFor();
  await widget().getByRole('textbox').fill('');
  // A tick at the moment when the rows change would be lost.
  await listed(/^Too long/).waitFor({ state: 'detached' });
  await workbench.quickInput.pick('#seed 2');
  await widget().getByRole('textbox').press('Enter');
  await row(/^plain, not started, tags: paper$/).waitFor();
});

test('a run is found by its note, and opened', async () => {
  // The page takes the focus when it opens, which would close the question.
  await openRun('twice the NLL');
  await workbench.runCommand('Tandem: Edit Run Details…');
  await workbench.quickInput.pick('Note');
  await workbench.quickInput.answer(/^What the run is for/, 'Does more NLL keep the protocol?');
  await workbench.closeAllEditors();
  await pointAt(
    row(/^twice the NLL/),
    workbench.page.locator('.monaco-hover', { hasText: 'Does more NLL keep the protocol?' }),
  );
  await workbench.pictures('run-notes-row', allThemes);
  await workbench.runCommand('Tandem: Find Run…');
  await widget().getByText('Does more NLL keep the protocol?').waitFor();
  await workbench.pictures('run-notes-find', allThemes);
  await widget().locator('input.input').fill('keep the protocol');
  await listed('plain').waitFor({ state: 'detached' });
  await widget().locator('input.input').press('Enter');
  await view().getByRole('heading', { name: 'twice the NLL' }).waitFor();
  await view().getByText('#paper · #seed 2').waitFor();
  await view().getByRole('button', { name: 'Start', exact: true }).waitFor();
  await view().getByText('Does more NLL keep the protocol?').waitFor();
});
