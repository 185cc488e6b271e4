import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { ModelHub } from '../fixtures/model-hub';
import { PackageIndex } from '../fixtures/package-index';
import { collectLog, realTrainer, tinyModel } from '../fixtures/trainer';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { chooseInMenu, pointAt } from './rows';
import { insisting } from './retries';
import { startWorkbench } from './launch';
import { killTrainers } from './runsView';
import { moreSettings, newRunForm } from './newRunForm';

// A machine without the trainer gets to a run: the trainer is installed from a local package index, then plans and
// trains the starter model on a real log.

let folder: string;
let workspace: string;
let index: PackageIndex;
let hub: ModelHub;
let workbench: WorkbenchDriver;

const form = (): ReturnType<typeof newRunForm> => newRunForm(workbench);
const button = (name: string): Locator => form().getByRole('button', { name });
const row = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name }).first();
const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));
const needs = (): Locator => form().locator('.needs');
const dialog = (): Locator => workbench.page.locator('.monaco-dialog-box');

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-new-run-'));
  workspace = path.join(folder, 'workspace');
  const wheels = path.join(folder, 'wheels');
  await mkdir(wheels);
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  index = await PackageIndex.start(wheels);
  const extension = path.join(folder, 'extension');
  await extensionFor(index, extension);
  hub = await ModelHub.start('tiny/agent', await tinyModel(path.join(folder, 'model')));
  workbench = await startWorkbench({
    extension,
    workspace,
    environment: {
      ...{ TANDEM_TRAINER_PYTHON: '', TANDEM_PYTHON: realTrainer().python, TANDEM_CACHE: cache() },
      ...index.environment,
      ...hubEnvironment(),
    },
  });
  await workbench.showTandem();
});

afterAll(async () => {
  await killTrainers(runs());
  await workbench.close();
  await index.close();
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

/** Copies the extension with the hashes of the local packages. */
async function extensionFor(packages: PackageIndex, to: string): Promise<void> {
  for (const name of ['dist', 'l10n', 'media', 'package.json', 'package.nls.json'])
    await cp(path.join(root, name), path.join(to, name), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(to, 'node_modules'));
  await writeFile(path.join(to, 'dist', 'trainer', 'requirements.lock'), await packages.lock());
}

const cache = (): string => path.join(folder, 'cache');
const hubEnvironment = (): Readonly<Record<string, string>> => ({
  ...{ HF_ENDPOINT: hub.url, HF_HOME: path.join(folder, 'hub'), HF_HUB_OFFLINE: '0' },
  // By default the hub has ten seconds to answer.
  ...{ HF_HUB_ETAG_TIMEOUT: '300', HF_HUB_DOWNLOAD_TIMEOUT: '300' },
});

/** Lists the trainer's environments without files that installers wrote. */
async function environments(): Promise<string[]> {
  const names = await readdir(path.join(cache(), 'trainer'));
  return names.filter((name) => !name.endsWith('.log')).map((name) => name.split('-')[0]!);
}

/** Takes pictures after closing notifications. */
async function pictures(name: string): Promise<void> {
  await workbench.clearNotifications();
  await accessiblePictures(workbench, form(), `new-run-${name}`);
}

/** Returns whether the form is no wider than its place. */
const isNarrow = (): Promise<boolean> =>
  form()
    .locator('main')
    .evaluate((main) => main.scrollWidth <= main.clientWidth);

function isInSight(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight;
}

const counted = (): Promise<void> =>
  form().getByText('12 dialogues of 6 tasks, 3 successes', { exact: true }).waitFor();

test('without a dialogue the form says where they come from, and follows when there are some', async () => {
  await workbench.runCommand('Tandem: New Run…');
  await form().getByText('Agents learn from dialogues').waitFor();
  await button('Let the simulator play').waitFor();
  await button('Play a task').waitFor();
  await button('Import dialogues…').waitFor();
  await expect.poll(() => button('Start').count()).toBe(0);
  await pictures('empty');
  await button('Train by GRPO').click();
  await expect.poll(() => form().getByRole('radio', { name: 'GRPO', exact: true }).isChecked()).toBe(true);
  await pictures('online');
  await form().getByRole('radio', { name: 'SWEET-RL', exact: true }).check();
  await form().getByText('Agents learn from dialogues').waitFor();
  await collectLog(path.join(workspace, '.tandem'));
  await counted();
});

test('the trainer is installed only after a question, with progress, and can be cancelled', async () => {
  await needs().scrollIntoViewIfNeeded();
  await needs().getByText('Memory and time are estimated after the installation.').waitFor();
  await form()
    .locator('footer')
    .getByText(/^about .+ to download first$/)
    .waitFor();
  await pictures('unprepared');
  for (const name of ['Install…', 'Start']) {
    await button(name).click();
    await dialog()
      .getByText(/downloads about .+ and takes .+ of disk space/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  }
  await expect.poll(() => runs().list()).toEqual([]);
  await expect(environments()).rejects.toThrow('ENOENT');
  index.held = 'torch';
  const step = needs().getByRole('listitem').filter({ hasText: 'Install what training needs' });
  for (const name of ['Install…', 'Start']) {
    await button(name).click();
    await dialog().getByRole('button', { name: 'Install' }).click();
    await step.getByText(/downloading torch \(3\.0 MB\)/).waitFor();
    await workbench.page
      .locator('.statusbar-item', { hasText: 'Tandem: Installing what training needs' })
      .waitFor();
    await accessiblePictures(
      workbench,
      form(),
      `new-run-installing-by-${name === 'Start' ? 'start' : 'button'}`,
    );
    await button('Cancel').click();
    await button('Install…').waitFor();
    await expect.poll(environments).toEqual([]);
    await expect.poll(() => runs().list()).toEqual([]);
  }
  index.held = undefined;
  await button('Install…').click();
  await dialog().getByRole('button', { name: 'Install' }).click();
  await needs().getByText('It fits this machine.').waitFor();
  await expect.poll(async () => (await environments()).sort()).toEqual(['packages', 'trainer']);
});

test('plans the run with the defaults: time, memory, device', async () => {
  await form().locator('.needs').scrollIntoViewIfNeeded();
  await form().locator('.needs').getByText('It fits this machine.').waitFor();
  await form()
    .locator('footer')
    .getByText(/^about .+ of .+ GB/)
    .waitFor();
  await pictures('plan');
});

test('a value that will not do has its sentence beside it, and is where Start leads', async () => {
  await moreSettings(workbench).click();
  const beta = form().getByRole('group', { name: 'Critic' }).getByRole('textbox', { name: 'Beta' });
  await expect.poll(() => beta.inputValue()).toBe('3');
  await beta.fill('0');
  await form().getByText('Enter a number above 0.').waitFor();
  await expect.poll(() => beta.getAttribute('aria-invalid')).toBe('true');
  const described = (await beta.getAttribute('aria-describedby'))!.split(' ');
  expect(await form().locator(`#${described[0]}`).textContent()).toContain('Enter a number above 0.');
  await moreSettings(workbench).press('Enter');
  await form().getByText('1 to fix').waitFor();
  await button('Start').click();
  await expect.poll(() => beta.evaluate((element) => element === document.activeElement)).toBe(true);
  await pictures('error');
  await expect.poll(() => runs().list()).toEqual([]);
});

test('a critic has one of several scores', async () => {
  const score = form().getByRole('combobox', { name: 'Score' });
  await score.selectOption({ label: 'Value head' });
  await form().getByText('2 changed').waitFor();
  await score.scrollIntoViewIfNeeded();
  await pictures('score');
  await button('Score: reset to the recommended value').click();
  await form().getByText('1 changed').waitFor();
});

test('is kept over a reload, and fits a narrow editor', async () => {
  await form().getByRole('textbox', { name: 'Name', exact: true }).fill('from the form');
  await moreSettings(workbench).click();
  await form().getByText('2 changed').waitFor();
  await workbench.kept(/from the form.*isUnfolded\W+false/);
  await workbench.reload();
  // It opens by itself at what is wrong.
  await expect.poll(() => form().getByText('Enter a number above 0.').evaluate(isInSight)).toBe(true);
  // The keyboard reaches the button in front of the field.
  await button('Beta: reset to the recommended value').press('Enter');
  await form().getByText('Enter a number above 0.').waitFor({ state: 'detached' });
  await form().getByText('1 changed').waitFor();
  await expect
    .poll(() => form().getByRole('textbox', { name: 'Name', exact: true }).inputValue())
    .toBe('from the form');
  await counted();
  await pictures('more');
  await workbench.setSize(400, 1000);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.screenshot('new-run-more-400');
  await expect.poll(isNarrow).toBe(true);
  await moreSettings(workbench).click();
  await form().getByRole('heading', { name: 'New run' }).scrollIntoViewIfNeeded();
  await workbench.screenshot('new-run-400');
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);
});

test('a name on the hub is planned only when that is asked for', async () => {
  const base = form().getByRole('combobox', { name: 'Base model' });
  const name = form().getByRole('textbox', { name: 'Hugging Face model ID' });
  await base.selectOption('hub');
  await name.fill('nobody/agent');
  await needs().getByText('tokenizer are downloaded from the hub').waitFor();
  await button('Plan').click();
  await form()
    .getByText(/^model\.base is nobody\/agent, but the hub has no such model/)
    .waitFor();
  await base.scrollIntoViewIfNeeded();
  await workbench.screenshot('new-run-hub-unknown');
  await name.fill('tiny/agent');
  await button('Plan').click();
  await needs().getByText('It fits this machine.').waitFor();
  await base.selectOption('starter');
  await needs().getByText('It fits this machine.').waitFor();
});

test('opens as a file that can be started', async () => {
  await button('Open as file').click();
  await workbench.page.locator('.tab', { hasText: 'run.json' }).waitFor();
  await workbench.page.locator('.view-lines', { hasText: '"name": "from the form"' }).waitFor();
  await workbench.page.getByRole('button', { name: 'Start Run from This File' }).first().waitFor();
});

test('the file has its fields explained, what does not fit underlined, and what fits offered', async () => {
  const { page } = workbench;
  const method = page.locator('.view-line', { hasText: '"method"' });
  const underlined = page.locator('.squiggly-warning');
  // A double click is two single ones where the machine is slow; this key selects a word at any speed.
  await insisting(async (options) => {
    await method.getByText('"sweet-rl"').click(options);
    await page.keyboard.press('Control+D');
    await page.locator('.statusbar-item', { hasText: /\(5 selected\)/ }).waitFor(options);
  });
  await page.keyboard.type('bitter');
  await underlined.first().waitFor();
  await workbench.pictures('run-file-underlined');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  for (let left = '"bitter-rl"'.length; left > 0; left -= 1) await page.keyboard.press('Backspace');
  const offered = page.locator('.suggest-widget .monaco-list-row');
  await insisting(async (options) => {
    await page.keyboard.press('Control+Space');
    await offered.filter({ hasText: '"multiturn-dpo"' }).waitFor(options);
  });
  await workbench.pictures('run-file-completion');
  await offered.filter({ hasText: '"rft"' }).click();
  await page.locator('.view-line', { hasText: '"method": "rft"' }).waitFor();
  await underlined.first().waitFor({ state: 'detached' });
  await pointAt(
    method.getByText('"method"'),
    page.locator('.monaco-hover', { hasText: 'How the agent learns; each method has settings of its own.' }),
  );
  await workbench.pictures('run-file-hover');
  await workbench.runCommand('View: Revert and Close Editor');
});

test('a run is duplicated into the form, on the same rows or on the log', async () => {
  await button('Start').click();
  await form().getByRole('heading', { name: 'from the form' }).waitFor();
  await chooseInMenu(
    row(/^from the form/),
    'Duplicate Run with Changes…',
    form().getByRole('heading', { name: 'New run like from the form' }),
  );
  await form().getByText('As in from the form').waitFor();
  await workbench.screenshot('new-run-duplicate');
  await button('Change…').click();
  await expect
    .poll(() => form().getByRole('radio', { name: 'The rows of from the form' }).isChecked())
    .toBe(true);
  await expect.poll(() => form().getByRole('combobox', { name: 'Agent' }).count()).toBe(0);
  await counted();
  await form().getByRole('radio', { name: 'From the log, as it is now' }).check();
  await form().getByRole('combobox', { name: 'Agent' }).waitFor();
  await counted();
});
