import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { doubling, label, play } from '../fixtures/log';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { alsoSelect, chooseInMenu, openRow, pointAt, pressInRow, select } from './rows';
import { allThemes } from './themes';

// The dialogues are written as another process would, which is all that lists, titles, tags and notes need.

const RUN = '20261120-220501-k3f9';
let workspace: string;
let workbench: WorkbenchDriver;

const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Dialogues' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const widget = (): Locator => workbench.quickInput.widget;
const listed = (text: string | RegExp): Locator => workbench.quickInput.listed(text);
const pick = (text: string | RegExp): Promise<void> => workbench.quickInput.pick(text);
const hover = (text: string): Locator => workbench.page.locator('.monaco-hover', { hasText: text });

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-labels-'));
  const data = path.join(workspace, '.tandem');
  const run = path.join(data, 'runs', RUN);
  await mkdir(run, { recursive: true });
  await writeFile(
    path.join(run, 'run.json'),
    JSON.stringify({ name: 'Night run', model: { base: 'owner/model' } }),
  );
  const log = await TrajectoryLog.open(data);
  const agent = `local:.tandem/runs/${RUN}/model`;
  const named = (id: string) => ({ ...doubling, id });
  await play(log, 'e1', 0, { agent, collection: 'evaluation-1' }, named('halving'));
  await play(log, 'e2', 1, { agent, collection: 'evaluation-1' });
  await play(log, 'p1', 1, { agent }, named('adding'));
  await play(log, 'p2', 0, { agent: 'openai:other' }, named('tripling'));
  await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'a study', level: 'local' });
  await log.append(label('p2', 'ada', { tags: ['odd'], note: 'The customer was in a hurry.' }));
  await log.close();
  workbench = await startWorkbench({ extension: root, workspace });
  await workbench.showTandem();
  await tree().getByRole('treeitem').first().waitFor();
  await workbench.openViews('Dialogues');
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('a filter by run and source is saved, is there after a reload, is chosen in one step, and deleted', async () => {
  await workbench.runCommand('Tandem: Filter Dialogues…');
  await pick(/^Run/);
  await pick('Night run');
  await widget().getByText('Filter Dialogues: 3 dialogues').waitFor();
  await pick(/^Source/);
  await pick('Evaluation');
  await widget().getByText('Filter Dialogues: 2 dialogues').waitFor();
  await pick('Save the filter…');
  await workbench.quickInput.answer(/^Name of the filter/, 'of the night');
  await workbench.kept(/of the night/, 'tandem');
  const filtered = /^Filter: evaluation · run Night run, 2 of 4 dialogues$/;
  await row(filtered).waitFor();
  await pressInRow(row(filtered), 'Clear Dialogue Filter', row(/tripling/i));
  await row(filtered).waitFor({ state: 'detached' });
  await workbench.reload();
  // The workbench shows the list again by itself, which a click on its icon would undo.
  await tree().getByRole('treeitem').first().waitFor();
  await workbench.runCommand('Tandem: Filter Dialogues…');
  await listed('evaluation · run').waitFor();
  await pick('of the night');
  await row(filtered).waitFor();
  await workbench.runCommand('Tandem: Filter Dialogues…');
  const saved = widget().locator('.quick-input-list-entry', { hasText: 'of the night' });
  await saved.hover();
  await saved.locator('.action-label').click();
  await saved.waitFor({ state: 'detached' });
  await pick('Clear the filter');
  await row(filtered).waitFor({ state: 'detached' });
});

test('a dialogue is renamed by F2, by a person who chooses a pseudonym first', async () => {
  const replay = workbench.webviewFrame('panel');
  await openRow(row(/adding|Adding/), replay.getByRole('heading', { name: 'Adding' }));
  await workbench.closeAllEditors();
  await tree().press('F2');
  const notice = await workbench.notification(/Titles, tags and notes are logged under a pseudonym/);
  await notice.getByRole('button', { name: 'Choose…' }).click();
  await workbench.quickInput.answer(/^Pseudonym under which/, 'ben');
  await workbench.quickInput.answer(/^What these dialogues/);
  await workbench.quickInput.answer('(3/3)');
  await workbench.quickInput.answer(/^Title of the dialogue/, 'The good one');
  await openRow(row(/^The good one/), replay.getByRole('heading', { name: 'The good one' }));
  await replay.getByRole('button', { name: 'Details' }).click();
  await replay.getByText('Adding', { exact: true }).waitFor();
  await workbench.clearNotifications();
});

test('several are tagged at once, with tags in use and new ones; what others gave stays', async () => {
  await select(row(/^The good one/));
  await alsoSelect(row(/tripling|Tripling|#odd|tags: #odd/));
  await chooseInMenu(row(/^The good one/), 'Edit Dialogue Details…', listed('given by ada'));
  await widget().getByRole('textbox').fill('to the point, short');
  await listed('#short').waitFor();
  await workbench.pictures('labels-tags', allThemes);
  await widget().getByRole('textbox').press('Enter');
  await row(/^The good one, .*tags: #short, #to the point$/).waitFor();
  await row(/tags: #odd, #short, #to the point$/).waitFor();
});

test('a note is in the hover and the replay beside those of others', async () => {
  await openRow(
    row(/tags: #odd/),
    workbench.webviewFrame('panel').getByText('The customer was in a hurry. ada'),
  );
  await chooseInMenu(row(/tags: #odd/), 'Edit Dialogue Details…', listed('Note'));
  await workbench.pictures('labels-details', allThemes);
  await pick('Note');
  await workbench.quickInput.answer(/^What you want to remember/, 'Ask about a lighthouse.');
  await workbench.closeAllEditors();
  await pointAt(row(/tags: #odd/), hover('Ask about a lighthouse.'));
  await hover('The customer was in a hurry.').waitFor();
  await workbench.pictures('labels-rows', allThemes);
  const replay = workbench.webviewFrame('panel');
  await openRow(row(/tags: #odd/), replay.getByText('The customer was in a hurry. ada'));
  await replay.getByText('Ask about a lighthouse. you').waitFor();
  await replay.getByText('#odd · #short · #to the point').waitFor();
  // The palette means the dialogue that is replayed in front.
  await workbench.runCommand('Tandem: Edit Dialogue Details…');
  await pick('Note');
  await workbench.quickInput.answer(/^What you want to remember/, 'Ask about a lighthouse and a ship.');
  await replay.getByText('Ask about a lighthouse and a ship. you').waitFor();
});
