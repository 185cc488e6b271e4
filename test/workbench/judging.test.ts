import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { chosen } from '../fixtures/choices';
import { kim, label, play } from '../fixtures/log';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { alsoSelect, chooseInMenu, openRow } from './rows';
import { allThemes } from './themes';

let workspace: string;
let workbench: WorkbenchDriver;

const row = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Dialogues' }).getByRole('treeitem', { name }).first();
const page = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-judging-'));
  const log = await TrajectoryLog.open(path.join(workspace, '.tandem'));
  await play(log, 'first', 1, { collaborator: kim });
  await play(log, 'second', 0, { collaborator: kim });
  await chosen(log, 'chosen', [0, 1]);
  await log.appendAll([
    label('first', 'kim', { title: 'Sent back' }),
    label('second', 'kim', { title: 'Well played' }),
    { event: 'rating', episode: 'chosen', stars: 2, comment: 'It guesses.', by: 'kim' },
  ]);
  await log.close();
  workbench = await startWorkbench({ extension: root, workspace });
  await workbench.showTandem();
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('a dialogue is marked to be redone in its replay, others accepted in the list', async () => {
  await workbench.openViews('Dialogues');
  await openRow(row(/^Well played/), page().getByRole('heading', { level: 1, name: 'Well played' }));
  await page().getByRole('main').press('Alt+N');
  await page().getByRole('heading', { level: 1, name: 'Sent back' }).waitFor();
  await page().getByRole('button', { name: 'redo…' }).waitFor();
  await page().getByRole('main').press('Alt+R');
  const notice = await workbench.notification(/Reviews are logged under a pseudonym/);
  await notice.getByRole('button', { name: 'Choose…' }).click();
  await workbench.quickInput.answer(/^Pseudonym under which/, 'ben');
  await workbench.quickInput.answer(/^What these dialogues/);
  await workbench.quickInput.answer('(3/3)');
  await workbench.quickInput.pick('A reply is unclear');
  await page().getByText('to be redone, says you: A reply is unclear').waitFor();
  await row(/^Sent back, .*, to be redone/).waitFor();
  await openRow(row(/^Well played/), page().getByRole('heading', { level: 1, name: 'Well played' }));
  await alsoSelect(row(/^Doubling|^Write|^double/i));
  await chooseInMenu(row(/^Well played/), 'Accept Dialogue', row(/^Well played, .*, accepted/));
});

test('a dialogue of others is judged without what they chose, over a reload, and told at the end', async () => {
  await workbench.closeAllEditors();
  await workbench.runCommand('Tandem: Review…');
  await workbench.quickInput.pick('Judge Next Dialogue');
  await page().getByText('0 of 2 choices judged').waitFor();
  await page().getByRole('article', { name: 'Candidate A' }).getByText('candidate 0 for 1?').waitFor();
  await expect
    .poll(() =>
      page()
        .getByText(/kim|rival|guesses/)
        .count(),
    )
    .toBe(0);
  await accessiblePictures(workbench, page(), 'people-judging', allThemes);
  await page().getByText('request', { exact: true }).click();
  await workbench.page.keyboard.press('2');
  await page().getByText('1 of 2 choices judged').waitFor();
  await page().getByText('You said: B').waitFor();
  await page().getByRole('button', { name: 'Neither' }).click();
  await page().getByText('2 of 2 choices judged').waitFor();
  await page()
    .getByRole('group', { name: 'Your rating of turn 1' })
    .getByRole('button', { name: 'Good message' })
    .click();
  await workbench.page.keyboard.press('4');
  await page().getByRole('radio', { name: '4 stars' }).and(page().locator(':checked')).waitFor();
  await workbench.kept(/stars\W+4/);
  await workbench.reload();
  await page().getByRole('radio', { name: '4 stars' }).and(page().locator(':checked')).waitFor();
  await page().getByRole('textbox', { name: 'Comment (optional)' }).fill('Asks in order.');
  await page().getByRole('button', { name: 'Finish' }).click();
  await page().getByRole('heading', { name: 'What others said' }).waitFor();
  await page().getByText('“It guesses.”').waitFor();
  const choices = page().getByRole('table', { name: 'Choices between candidates' });
  await choices.getByRole('row', { name: /^2 agent rival neither B$/ }).waitFor();
});
