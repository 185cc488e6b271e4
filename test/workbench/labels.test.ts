import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { doubling, label, play } from '../fixtures/log';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { alsoSelect, chooseInMenu, openRow, pointAt, select } from './rows';
import { allThemes } from './themes';

// The dialogues are written as another process would, which is all that lists, titles, tags and notes need.

const RUN = '20261120-220501-k3f9';
let workspace: string;
let workbench: WorkbenchDriver;

const treeOf = ({ page }: WorkbenchDriver): Locator => page.getByRole('tree', { name: 'Trajectories' });
const rowIn = (window: WorkbenchDriver, name: RegExp): Locator =>
  treeOf(window).getByRole('treeitem', { name }).first();
const row = (name: RegExp): Locator => rowIn(workbench, name);
const widget = (): Locator => workbench.quickInput.widget;
const listed = (text: string | RegExp): Locator => workbench.quickInput.listed(text);
const pick = (text: string | RegExp): Promise<void> => workbench.quickInput.pick(text);
const hover = (text: string): Locator => workbench.page.locator('.monaco-hover', { hasText: text });

async function show(window: WorkbenchDriver): Promise<void> {
  await window.showTandem();
  await treeOf(window).getByRole('treeitem').first().waitFor();
  await window.openViews('Trajectories');
}

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
  await show(workbench);
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('dialogues stand together by the run whose model played, and by other agents', async () => {
  await workbench.runCommand('Tandem: Group Trajectories By…');
  await pick('whose trained model played');
  await row(/^Night run, 3, 67 % success$/).waitFor();
  await row(/^Other agents, 1, 0 % success$/).waitFor();
  await workbench.pictures('labels-by-run', allThemes);
});

test('a filter by run and source is saved, is there after a reload, is chosen in one step, and deleted', async () => {
  await workbench.runCommand('Tandem: Filter Trajectories…');
  await pick(/^Run/);
  await pick('Night run');
  await widget().getByText('Filter Trajectories: 3 dialogues').waitFor();
  await pick(/^Source/);
  await pick('Evaluation');
  await widget().getByText('Filter Trajectories: 2 dialogues').waitFor();
  await pick('Save the filter…');
  await workbench.quickInput.answer(/^Name of the filter/, 'of the night');
  const filtered = /^Filter: evaluation · run Night run, 2 of 4 dialogues$/;
  await row(filtered).waitFor();
  await workbench.runCommand('Tandem: Clear Trajectory Filter');
  await row(filtered).waitFor({ state: 'detached' });
  await workbench.runCommand('Tandem: Group Trajectories By…');
  await pick('None');
  await workbench.kept(/of the night/, 'tandem');
  await workbench.kept(/"tandem.trajectoryGrouping":"none"/, 'tandem');
  await workbench.reload();
  // The workbench shows the list again by itself, which a click on its icon would undo.
  await treeOf(workbench).getByRole('treeitem').first().waitFor();
  await workbench.runCommand('Tandem: Filter Trajectories…');
  await listed('evaluation · run').waitFor();
  await workbench.pictures('labels-saved-filters', allThemes);
  await pick('of the night');
  await row(filtered).waitFor();
  await row(/^Night run, 2, 50 % success$/).waitFor();
  await workbench.runCommand('Tandem: Filter Trajectories…');
  const saved = widget().locator('.quick-input-list-entry', { hasText: 'of the night' });
  await saved.hover();
  await saved.locator('.action-label').click();
  await saved.waitFor({ state: 'detached' });
  await pick('Clear the filter');
  await row(filtered).waitFor({ state: 'detached' });
  await workbench.runCommand('Tandem: Group Trajectories By…');
  await pick('None');
});

test('a dialogue is renamed by F2, by a person who chooses a pseudonym first; another window has the title', async () => {
  const replay = workbench.webviewFrame('panel');
  await openRow(row(/adding|Adding/), replay.getByRole('heading', { name: 'Adding' }));
  await workbench.closeAllEditors();
  await treeOf(workbench).press('F2');
  const notice = await workbench.notification(/Titles, tags and notes are logged under a pseudonym/);
  await notice.getByRole('button', { name: 'Choose…' }).click();
  await workbench.quickInput.answer(/^Pseudonym under which/, 'ben');
  await workbench.quickInput.answer(/^Purpose/);
  await workbench.quickInput.answer('(3/3)');
  await workbench.quickInput.answer(/^Title of the dialogue/, 'The good one');
  await openRow(row(/^The good one/), replay.getByRole('heading', { name: 'The good one' }));
  await replay.getByText('task: Adding').waitFor();
  const other = await workbench.anotherWindow();
  await show(other);
  await rowIn(other, /^The good one/).waitFor();
  await other.close();
  await workbench.clearNotifications();
});

test('several are tagged at once, with tags in use and new ones; what others gave stays; a tag is a filter', async () => {
  await select(row(/^The good one/));
  await alsoSelect(row(/tripling|Tripling|#odd|tags: #odd/));
  await chooseInMenu(row(/^The good one/), 'Tags of Dialogue…', listed('given by ada'));
  await widget().getByRole('textbox').fill('to the point, short');
  await listed('#short').waitFor();
  await workbench.pictures('labels-tags', allThemes);
  await widget().getByRole('textbox').press('Enter');
  await row(/^The good one, .*tags: #short, #to the point$/).waitFor();
  await row(/tags: #odd, #short, #to the point$/).waitFor();
  await select(row(/^The good one/));
  await chooseInMenu(row(/^The good one/), 'Tags of Dialogue…', widget().getByRole('textbox'));
  await widget().getByRole('textbox').fill('x'.repeat(41));
  await listed(/^Too long, at most 40 characters: “x/).waitFor();
  await widget().getByRole('textbox').fill('');
  // A tick at the moment when the rows change would be lost.
  await listed(/^Too long/).waitFor({ state: 'detached' });
  await pick('#short');
  await widget().getByRole('textbox').press('Enter');
  await row(/^The good one, .*tags: #to the point$/).waitFor();
  await row(/tags: #odd, #short, #to the point$/).waitFor();
  await workbench.runCommand('Tandem: Filter Trajectories…');
  await pick(/^Tag/);
  await pick('#odd');
  await widget().getByText('Filter Trajectories: 1 dialogue').waitFor();
  await workbench.quickInput.dismiss();
  await row(/^Filter: #odd, 1 of 4 dialogues$/).waitFor();
  await workbench.runCommand('Tandem: Clear Trajectory Filter');
  await row(/^Filter: /).waitFor({ state: 'detached' });
});

test('a note is in the hover beside those of others, and found by the search', async () => {
  await openRow(
    row(/tags: #odd/),
    workbench.webviewFrame('panel').getByText('The customer was in a hurry. ada'),
  );
  await chooseInMenu(
    row(/tags: #odd/),
    'Note on Dialogue…',
    widget()
      .getByText(/^What you want to remember/)
      .first(),
  );
  await workbench.quickInput.answer(/^What you want to remember/, 'Ask about a lighthouse.');
  await workbench.closeAllEditors();
  await pointAt(row(/tags: #odd/), hover('Ask about a lighthouse.'));
  await hover('The customer was in a hurry.').waitFor();
  await workbench.pictures('labels-rows', allThemes);
  const replay = workbench.webviewFrame('panel');
  await openRow(row(/tags: #odd/), replay.getByText('The customer was in a hurry. ada'));
  await replay.getByText('Ask about a lighthouse. you').waitFor();
  await replay.getByText('#odd · #short · #to the point').waitFor();
  await accessiblePictures(workbench, replay, 'labels-replay', allThemes);
  await replay.getByRole('button', { name: 'tags…' }).click();
  await listed('given by ada').waitFor();
  await workbench.quickInput.dismiss();
  // The palette means the dialogue that is replayed in front.
  await workbench.runCommand('Tandem: Note on Dialogue…');
  await workbench.quickInput.answer(/^What you want to remember/, 'Ask about a lighthouse and a ship.');
  await replay.getByText('Ask about a lighthouse and a ship. you').waitFor();
  await workbench.closeAllEditors();
  await workbench.runCommand('Tandem: Search Transcripts…');
  await widget().getByRole('textbox').fill('lighthouse ask');
  await listed(/note/).waitFor();
  await workbench.screenshot('labels-search');
  await pick(/note/);
  const editor = workbench.page.locator('.editor-instance');
  await editor.locator('.view-line', { hasText: /Note.of.ben:.Ask.about.a.lighthouse/ }).waitFor();
  await workbench.setSize(400, 800);
  await workbench.screenshot('labels-narrow');
  const lines = (await TrajectoryLog.open(path.join(workspace, '.tandem'))).summary('p2');
  expect(lines?.note).toBe('The customer was in a hurry.\nAsk about a lighthouse and a ship.');
});
