import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { ownTarget } from '../../scripts/package/runtime.mjs';
import { run } from '../../scripts/setup/command.mjs';
import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { gradedHeading, type WorkbenchDriver } from '../workbench/driver';
import { startWorkbench } from '../workbench/launch';
import { alsoSelect, chooseInMenu, openRow, select } from '../workbench/rows';
import { showRuns, trainerEnvironment } from '../workbench/runsView';
import type { Theme } from '../workbench/themes';
import { prepareWorkspace, runs } from './workspace';

// Takes the pictures of README.md, all but those of a lesson, of one's own code and of reports: a person works with the
// package, with dialogues and models that are real. Nothing here runs with `npm test`.

let folder: string;
let workspace: string;
let workbench: WorkbenchDriver;

const page = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const button = (name: RegExp | string): Locator => page().getByRole('button', { name, exact: true });
const row = (view: string, name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: view }).getByRole('treeitem', { name }).first();
const composer = (): Locator => page().getByRole('textbox', { name: 'Your reply to the agent' });
/** Begins a dialogue; before the first one a person agrees to what is kept. */
const start = (): Locator => button(/^(Agree and start|Start)/);
const graded = (): Locator => page().getByRole('heading', { name: gradedHeading });
const [learned, control] = runs;
/** Whatever else the machine does, the trainer makes the two runs within this time, and the models play within it. */
const LONG = 2_400_000;

/** Saves the picture of a state in a window of this size, without what points at something. */
async function picture(name: string, theme: Theme, height = 800): Promise<void> {
  const { page: window } = workbench;
  await workbench.setTheme(theme);
  await workbench.setSize(1280, height);
  await workbench.clearNotifications();
  await window.mouse.move(640, 0);
  await window.waitForTimeout(1500);
  await window.screenshot({ path: path.join(root, 'docs', 'pictures', `${name}-${theme}.png`) });
}

/** Changes settings of the workspace; the others stay. */
async function configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const file = path.join(workspace, '.vscode', 'settings.json');
  const own = JSON.parse((await readFile(file, 'utf8')).replaceAll(/^ *\/\/.*$/gm, '')) as object;
  await writeFile(file, JSON.stringify({ ...own, ...settings }));
}

beforeAll(async () => {
  const prepared = path.join(root, '.sample', 'pictures');
  await prepareWorkspace(prepared);
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-pictures-'));
  workspace = path.join(folder, 'garage');
  await cp(prepared, workspace, { recursive: true });
  expect(await run(process.execPath, ['scripts/package.mjs', ownTarget], { cwd: root })).toBe(0);
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const vsix = path.join(root, 'packages', `tandem-${version}-${ownTarget}.vsix`);
  workbench = await startWorkbench({
    ...{ extension: { vsix }, workspace },
    environment: trainerEnvironment(),
  });
}, LONG);

afterAll(async () => {
  await workbench.close();
  await rm(folder, { recursive: true, force: true });
});

test('a run, and the form of a new one', async () => {
  await showRuns(workbench);
  await openRow(
    row('Runs', new RegExp(`^${learned!.name}, done`)),
    page().getByRole('heading', { name: learned!.name }),
  );
  await page()
    .getByRole('img', { name: /^Pair accuracy of policy/ })
    .waitFor();
  await picture('run', 'light', 900);
  await workbench.closeAllEditors();
  await workbench.runCommand('Tandem: New Run…');
  await page()
    .locator('footer')
    .getByText(/^about .+ of .+ GB/)
    .waitFor();
  await picture('new-run', 'light', 1120);
  await workbench.closeAllEditors();
});

test(
  'two runs side by side, evaluated on tasks that neither has seen',
  async () => {
    await select(row('Runs', new RegExp(`^${control!.name}, done`)));
    await alsoSelect(row('Runs', new RegExp(`^${learned!.name}, done`)));
    await workbench.closeAllEditors();
    await chooseInMenu(row('Runs', new RegExp(`^${learned!.name}, done`)), 'Compare Runs');
    await page().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
    await button('Evaluate…').click();
    await workbench.quickInput.pick('Newly generated starter-world tasks');
    await workbench.quickInput.pick(/^The first 100 tasks/);
    const standing = page().getByRole('region', { name: /^Held-out success, .* tasks: / });
    await standing.waitFor({ timeout: LONG });
    await workbench.setSize(1280, 800);
    await standing.scrollIntoViewIfNeeded();
    await picture('comparison', 'dark');
    await workbench.closeAllEditors();
  },
  LONG,
);

test('the trained agent plays: a drafted reply, a leak, the tests, and the Models view', async () => {
  await openRow(row('Runs', new RegExp(`^${learned!.name}, done`)), button('Play with it'));
  await workbench.openViews('Tasks', 'Dialogues', 'Models');
  await button('Play with it').click();
  await start().click();
  await workbench.setSize(1280, 800);
  await asked(1);
  await picture('models', 'dark');
  await composer().press('Alt+A');
  await asked(2);
  await button('Suggest').click();
  await page().getByText('Drafted by Simulator (rules)').waitFor();
  await picture('session', 'light');
  await button('Discard').click();
  const reference = workbench.page.locator('.editor-instance .view-line', { hasText: 'total' });
  const code = await reference.allInnerTexts();
  await composer().fill(code.map((line) => line.trim()).join('; '));
  await composer().press('Enter');
  await page().getByText('Not sent yet: this gives away').waitFor();
  await picture('leak', 'light');
  await button(/^Edit/).click();
  await composer().fill('');
  await composer().press('Alt+Shift+A');
  await graded().waitFor();
  await workbench.page.keyboard.press('4');
  await page().getByText('4 stars, saved').waitFor();
  await page().getByRole('table').scrollIntoViewIfNeeded();
  await picture('graded', 'light');
});

/** Waits until the agent has asked that often, and the person may reply. */
async function asked(times: number): Promise<void> {
  await page().getByText(`turn ${times} of 6`).or(graded()).first().waitFor();
  await composer().or(graded()).first().waitFor();
  if (await graded().isVisible())
    throw new Error('The agent answered before the picture could be taken. Take the pictures again.');
}

test('two candidates', async () => {
  await configure({ 'tandem.agent': await trained(), 'tandem.session.openReference': false });
  await workbench.closeAllEditors();
  await workbench.showTandem();
  await workbench.runCommand('Tandem: Compare Two Candidates…');
  await workbench.quickInput.pick('starter');
  await workbench.openViews('Tasks', 'Dialogues', 'Models');
  await openRow(row('Tasks', /, new$/), start());
  await start().click();
  // Two messages that look alike are not shown.
  const choice = page().getByText('Which message is better?');
  await choice.or(composer()).first().waitFor();
  while (!(await choice.isVisible())) {
    await composer().press('Alt+A');
    await choice.or(composer()).or(graded()).first().waitFor();
    if (await graded().isVisible()) throw new Error('No two messages differed. Take the pictures again.');
  }
  await picture('candidates', 'light');
  await workbench.runCommand('Tandem: Compare Two Candidates…');
  await workbench.quickInput.pick('One message at a time');
  // The workbench writes that setting into the same file.
  await workbench.page.waitForTimeout(2000);
  await configure({ 'tandem.session.openReference': true });
  await workbench.closeAllEditors();
});

/** Returns the name of the trained agent in the settings. */
async function trained(): Promise<string> {
  const all = await new Runs(path.join(workspace, '.tandem')).list();
  return `local:.tandem/runs/${all.find(({ name }) => name === learned!.name)!.id}/model`;
}

test('two dialogues of one task, the credit of each turn, and statistics', async () => {
  await workbench.openViews('Dialogues');
  await workbench.runCommand('Tandem: Group Dialogues By…');
  await workbench.quickInput.pick('None');
  const replay = button('see the credit of each turn…');
  await select(row('Dialogues', /, 10\/10 tests/));
  await page().getByText('10/10 tests', { exact: true }).waitFor();
  await replay.click();
  await workbench.quickInput.pick(learned!.name);
  await page()
    .getByRole('img', { name: /^(Helped|Hurt): / })
    .first()
    .waitFor();
  await picture('credit', 'light', 900);
  await button('compare with…').click();
  await workbench.quickInput.pick(/with rules/);
  await workbench.page.getByRole('tab', { name: /: two dialogues/ }).waitFor();
  await picture('compare', 'light');
  await workbench.closeAllEditors();
  await workbench.runCommand('Tandem: Show Statistics of Dialogues');
  await page().getByRole('heading', { name: 'Statistics' }).waitFor();
  await picture('statistics', 'dark');
  await workbench.closeAllEditors();
});

test('a web page: the draft beside the wanted page, and a place on it in the reply', async () => {
  await configure({ 'tandem.agent': 'starter-pages' });
  const world = ['world', path.join(workspace, 'pages.jsonl'), '--kind', 'pages', '--tasks', '3'];
  expect(await run(process.execPath, [path.join(root, 'dist', 'tandem.js'), ...world], { cwd: root })).toBe(
    0,
  );
  await workbench.showTandem();
  await openRow(row('Tasks', /, page, new$/), start());
  await start().click();
  await composer().waitFor();
  await composer().press('Alt+L');
  await page().locator('.part-list [role="listbox"]:focus').waitFor();
  await page().locator('.part-list [role="listbox"]').press('Enter');
  await composer().pressSequentially('this is right, but the list should be wider.');
  await picture('page', 'light', 900);
});
