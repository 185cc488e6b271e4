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
import { chooseInMenu, openRow, pointAt } from './rows';
import { insisting } from './retries';
import { startWorkbench } from './launch';
import { killTrainers, newRunButton, showRuns } from './runsView';
import { newRunForm } from './newRunForm';

// A machine without the trainer gets to a run: the trainer is installed from a local package index, then plans and
// trains the starter model on a real log.

let folder: string;
let workspace: string;
let index: PackageIndex;
let hub: ModelHub;
let workbench: WorkbenchDriver;

const form = (): ReturnType<typeof newRunForm> => newRunForm(workbench);
const button = (name: string): Locator => form().getByRole('button', { name });
const figure = (label: string): Locator =>
  form()
    .locator('.figures > div', { has: form().locator('dt', { hasText: label }) })
    .locator('.value');
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
  await showRuns(workbench);
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

async function says(figureLabel: string, value: string): Promise<void> {
  await figure(figureLabel)
    .filter({ hasText: new RegExp(`^${value}$`) })
    .waitFor();
}

const openForm = (shown: Locator): Promise<void> => openRow(newRunButton(workbench), shown);

test('without a dialogue the form says where they come from, and follows when there are some', async () => {
  await openForm(form().getByText('Agents learn from dialogues'));
  await button('Let the simulator play').waitFor();
  await button('Play a task').waitFor();
  await button('Import trajectories…').waitFor();
  await expect.poll(() => button('Start').count()).toBe(0);
  await pictures('empty');
  await button('Train by GRPO').click();
  await expect.poll(() => form().getByRole('radio', { name: 'GRPO (online)' }).isChecked()).toBe(true);
  await pictures('online');
  await form().getByRole('radio', { name: 'SWEET-RL', exact: true }).check();
  await form().getByText('Agents learn from dialogues').waitFor();
  await collectLog(path.join(workspace, '.tandem'));
  await says('Trajectories', '12');
  await says('Successes', '3');
  await says('Pairs', '6');
});

test('the trainer is installed only after a question, with progress, and can be cancelled', async () => {
  await needs().scrollIntoViewIfNeeded();
  await needs().getByText('The trainer is not prepared on this machine yet.').waitFor();
  await pictures('unprepared');
  for (const name of ['Prepare the trainer', 'Start']) {
    await button(name).click();
    await dialog()
      .getByText(/downloads about .+ and takes .+ of disk space/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  }
  await expect.poll(() => runs().list()).toEqual([]);
  await expect(environments()).rejects.toThrow('ENOENT');
  index.held = 'torch';
  await button('Prepare the trainer').click();
  await dialog().getByRole('button', { name: 'Install' }).click();
  await needs()
    .getByText(/downloading torch \(3\.0 MB\)/)
    .waitFor();
  const progress = await workbench.notification(/Preparing the trainer: .*downloading torch/);
  await workbench.screenshot('new-run-preparing');
  await progress.getByRole('button', { name: 'Cancel' }).click();
  await button('Prepare the trainer').waitFor();
  await expect.poll(environments).toEqual([]);
  index.held = undefined;
  await button('Prepare the trainer').click();
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
  await button('Let the simulator play').scrollIntoViewIfNeeded();
  await pictures('few-data');
});

test('a value that will not do has its sentence beside it, and is where Start leads', async () => {
  await form().getByText('More settings', { exact: true }).click();
  const beta = form().getByRole('group', { name: 'Critic' }).getByRole('textbox', { name: 'Beta' });
  await expect.poll(() => beta.inputValue()).toBe('3');
  await beta.fill('0');
  await form().getByText('Enter a number above 0.').waitFor();
  await expect.poll(() => beta.getAttribute('aria-invalid')).toBe('true');
  const described = (await beta.getAttribute('aria-describedby'))!.split(' ');
  expect(await form().locator(`#${described[0]}`).textContent()).toContain('Enter a number above 0.');
  await button('Start').click();
  await expect.poll(() => beta.evaluate((element) => element === document.activeElement)).toBe(true);
  await beta.scrollIntoViewIfNeeded();
  await pictures('error');
  await expect.poll(() => runs().list()).toEqual([]);
  // The keyboard reaches the button in front of the field.
  await button('Beta: reset to the recommended value').press('Enter');
  await expect.poll(() => beta.inputValue()).toBe('3');
  await form().getByText('Enter a number above 0.').waitFor({ state: 'detached' });
});

test('is kept over a reload, and fits a narrow editor', async () => {
  await form().getByRole('textbox', { name: 'Name', exact: true }).fill('from the form');
  await form().getByText('1 changed').waitFor();
  await workbench.kept(/from the form/);
  await workbench.reload();
  await form().getByText('1 changed').waitFor();
  await expect
    .poll(() => form().getByRole('textbox', { name: 'Name', exact: true }).inputValue())
    .toBe('from the form');
  await says('Trajectories', '12');
  await workbench.setSize(700, 800);
  await form().getByRole('heading', { name: 'New run' }).scrollIntoViewIfNeeded();
  await workbench.screenshot('new-run-narrow');
  await expect.poll(isNarrow).toBe(true);
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
    page.locator('.monaco-hover', { hasText: 'rejection fine-tuning (RFT), multi-turn DPO, or online GRPO' }),
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
  await expect
    .poll(() => form().getByRole('radio', { name: 'The rows of from the form' }).isChecked())
    .toBe(true);
  await expect.poll(() => form().getByRole('combobox', { name: 'Agent' }).count()).toBe(0);
  await says('Trajectories', '12');
  await workbench.screenshot('new-run-duplicate');
  await form().getByRole('radio', { name: 'From the log, as it is now' }).check();
  await form().getByRole('combobox', { name: 'Agent' }).waitFor();
  await says('Trajectories', '12');
});
