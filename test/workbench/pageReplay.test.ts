import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { FrameLocator, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { choosePage, pin, playPage } from '../fixtures/pageDialogue';
import { label } from '../fixtures/log';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { alsoSelect, chooseInMenu, openRow } from './rows';
import { allThemes } from './themes';

let workspace: string;
let workbench: WorkbenchDriver;

const row = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Dialogues' }).getByRole('treeitem', { name }).first();
const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const turn = (number: number): Locator => view().getByRole('group', { name: `Turn ${number}`, exact: true });
/** Text inside the frame of a page, which scripts of the view wrote. */
const inFrame = (of: Locator, name: string) => of.frameLocator(`iframe[title="${name}"]`);

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-page-replay-'));
  const log = await TrajectoryLog.open(path.join(workspace, '.tandem'));
  await playPage(log, 'page');
  await choosePage(log, 'chosen');
  await log.appendAll([
    label('page', 'kim', { title: 'Bakery played' }),
    label('chosen', 'kim', { title: 'Bakery chosen' }),
  ]);
  await log.close();
  workbench = await startWorkbench({ extension: root, workspace });
  await workbench.showTandem();
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('a replay shows each draft beside the wanted page, with pins and scores, and without tests', async () => {
  await workbench.openViews('Dialogues');
  await row(/^Bakery played, page, 1\.00/).waitFor();
  await openRow(row(/^Bakery played/), view().getByRole('heading', { level: 1, name: 'Bakery played' }));
  await inFrame(turn(1), 'Draft').getByRole('heading', { name: 'Bakery' }).waitFor();
  const wanted = inFrame(turn(1), 'Wanted page').getByRole('banner');
  await expect
    .poll(() => wanted.evaluate((bar) => getComputedStyle(bar).backgroundColor))
    .toBe('rgb(5, 150, 105)');
  await turn(1).getByRole('list', { name: 'Pins' }).getByText(pin.words).waitFor();
  await turn(1).getByText('A first draft.').waitFor();
  await view().getByRole('heading', { name: 'Score 1.00' }).waitFor();
  await expect
    .poll(() =>
      view()
        .getByText(/\btests?\b/)
        .count(),
    )
    .toBe(0);
  await accessiblePictures(workbench, view(), 'page-replay', allThemes);
});

test('two pages are compared by keyboard: under a slider, as a difference, in turn', async () => {
  const views = turn(2).getByRole('group', { name: 'View' });
  await views.getByRole('button', { name: 'Slider' }).focus();
  await workbench.page.keyboard.press('Enter');
  const slider = turn(2).getByRole('slider');
  await slider.focus();
  await workbench.page.keyboard.press('ArrowRight');
  await expect.poll(() => slider.inputValue()).toBe('51');
  await workbench.pictures('page-slider');
  await views.getByRole('button', { name: 'Difference' }).press('Enter');
  await turn(2).getByText('Black where both look the same').waitFor();
  await workbench.pictures('page-difference');
  await views.getByRole('button', { name: 'Blink' }).press('Enter');
  await turn(2).getByRole('button', { name: 'Start blinking' }).press('Enter');
  await turn(2).getByRole('button', { name: 'Stop blinking' }).press('Enter');
  await turn(2).getByRole('button', { name: 'Show the other page' }).press('Enter');
  await views.getByRole('button', { name: 'Side by side' }).press('Enter');
  await turn(2).getByLabel('Zoom').selectOption('100 %');
  const draft = turn(2).getByRole('group', { name: 'Draft' });
  await draft.press('PageDown');
  const other = turn(2).getByRole('group', { name: 'Wanted page' });
  await expect.poll(() => other.evaluate((pane) => pane.scrollTop)).toBeGreaterThan(50);
  await turn(2).getByLabel('Width').selectOption('390 px');
  await expect.poll(() => draft.locator('iframe').evaluate((frame) => frame.clientWidth)).toBe(390);
});

test('a narrow replay has the pages under the slider', async () => {
  await workbench.setSize(400, 900);
  await turn(1).getByRole('slider').waitFor();
  await accessiblePictures(workbench, view(), 'page-replay-narrow');
  await workbench.setSize(1280, 800);
});

test('two dialogues stand side by side, each turn with its own draft beside the wanted page', async () => {
  await workbench.closeAllEditors();
  await row(/^Bakery played/).click();
  await alsoSelect(row(/^Bakery chosen/));
  const dialogue = (which: string): Locator => view().getByRole('region', { name: `${which} dialogue` });
  await chooseInMenu(row(/^Bakery chosen/), 'Compare Selected', dialogue('Second'));
  const firstDraft = (which: string): FrameLocator =>
    inFrame(dialogue(which).getByRole('group', { name: 'Turn 1', exact: true }), 'Draft');
  await firstDraft('First').getByRole('heading', { name: 'Bakery' }).waitFor();
  await firstDraft('Second').getByRole('heading', { name: 'Golden Crust' }).waitFor();
  const widthOf = (which: string): Promise<number> =>
    dialogue(which)
      .locator('iframe[title="Draft"]')
      .first()
      .evaluate((page) => page.getBoundingClientRect().width);
  await expect
    .poll(async () => Math.abs((await widthOf('First')) - (await widthOf('Second'))))
    .toBeLessThan(0.5);
  await accessiblePictures(workbench, view(), 'page-comparison', allThemes);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1700, 900);
  await workbench.screenshot('page-comparison-wide');
  await workbench.setSize(600, 900);
  await accessiblePictures(workbench, view(), 'page-comparison-narrow');
  await workbench.setSize(1280, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
});

test('a judge chooses between two pages with hidden names', async () => {
  await workbench.closeAllEditors();
  await workbench.runCommand('Tandem: Review…');
  await workbench.quickInput.pick('Judge Next Dialogue');
  const notice = await workbench.notification(/Judgments are logged under a pseudonym/);
  await notice.getByRole('button', { name: 'Choose…' }).click();
  await workbench.quickInput.answer(/^Pseudonym under which/, 'ben');
  await workbench.quickInput.answer(/^What these dialogues/);
  await workbench.quickInput.answer('(3/3)');
  await view().getByText('0 of 1 choices judged').waitFor();
  const both = view().getByRole('region', { name: /^Two candidates/ });
  await inFrame(both, 'A').getByRole('heading', { name: 'Bakery' }).waitFor();
  await inFrame(both, 'B').getByRole('heading', { name: 'Golden Crust' }).waitFor();
  await inFrame(view().getByRole('main'), 'Wanted page').getByRole('banner').waitFor();
  await accessiblePictures(workbench, view(), 'page-judging');
});
