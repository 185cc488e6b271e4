import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer, silence } from '../fixtures/chat-server-replies';
import { ModelHub } from '../fixtures/model-hub';
import { PackageIndex } from '../fixtures/package-index';
import { RayDashboard } from '../fixtures/ray-dashboard';
import { runNode } from '../fixtures/tasks';
import { collectLog, realTrainer, tinyModel } from '../fixtures/trainer';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { chooseInMenu, openRow, pointAt } from './rows';
import { insisting } from './retries';
import { startWorkbench } from './launch';
import { holdProcess } from '../fixtures/processes';
import { killTrainers, newRunButton, showRuns } from './runsView';
import { newRunForm } from './newRunForm';

// A machine without the trainer gets to a run: the trainer is installed from a local package index, then plans and
// trains the starter model on a real log.

let folder: string;
let workspace: string;
let index: PackageIndex;
let hub: ModelHub;
let dashboard: RayDashboard;
/** An agent that answers in the first ten dialogues, and never in the others. */
let slow: ChatServer;
const wrong = 'I WANT TO ANSWER:\n```python\ndef unknown():\n    pass\n```';
let workbench: WorkbenchDriver;
/** The agent that guesses and never succeeds. */
let guesses: string;

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
  slow = await startChatServer({ reply: ({ index }) => (index < 10 ? answer(wrong) : silence) });
  // Settings are written before the workbench starts, because it may notice later changes late.
  await configure({ 'tandem.agent': `openai:slow@${slow.url}` });
  dashboard = await RayDashboard.start();
  dashboard.gpus = ['NVIDIA H100 80GB HBM3', 'NVIDIA H100 80GB HBM3'];
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
  await slow.close();
  await index.close();
  await hub.close();
  await dashboard.close();
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

async function configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const all = { 'tandem.agent': 'starter', 'tandem.simulator': 'rules', ...settings };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(all));
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

/** Waits for what the form says of a cluster, which it gives five seconds; a slow machine is asked again. */
async function clusterSays(text: string): Promise<void> {
  await insisting(async (options) => {
    if (await form().getByText('has not answered within 5 seconds').first().isVisible())
      await button('Ask the cluster again').press('Enter', options);
    await form().getByText(text).waitFor(options);
  });
}

const openForm = (shown: Locator): Promise<void> => openRow(newRunButton(workbench), shown);

test('the simulator plays with the agent when there is nothing to learn from, until it is told to stop', async () => {
  await openForm(button('Let the simulator play'));
  await button('Let the simulator play').click();
  const progress = await workbench.notification(/slow@.* plays with rules: \d+ of 96 dialogues, \d+ solved/);
  await workbench.screenshot('new-run-collecting');
  await form().getByRole('heading', { name: 'Training data' }).waitFor();
  await figure('Trajectories')
    .filter({ hasText: /^([2-9]|\d\d)$/ })
    .waitFor();
  await workbench.screenshot('new-run-collected');
  await progress.getByRole('button', { name: 'Cancel' }).click();
  await progress.waitFor({ state: 'detached' });
  await workbench.notification(/: \d+ of 96 dialogues played.* You cancelled the rest\./);
  // The played dialogues stay, and the form counts them.
  const log = await TrajectoryLog.open(path.join(workspace, '.tandem'));
  const played = log.count({}).graded;
  await log.close();
  await says('Trajectories', String(played));
  // The rest of the story starts in a new window.
  await workbench.leave();
  await rm(path.join(workspace, '.tandem'), { recursive: true });
  await configure({});
  await workbench.open();
});

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
  guesses = await collectLog(path.join(workspace, '.tandem'));
  await says('Trajectories', '12');
  await says('Successes', '3');
  await says('Pairs', '6');
});

test('without the trainer the form says what it takes, and installs nothing without asking', async () => {
  await needs().scrollIntoViewIfNeeded();
  await needs().getByText('The trainer is not prepared on this machine yet.').waitFor();
  await pictures('unprepared');
  for (const name of ['Prepare the trainer', 'Start']) {
    await button(name).click();
    await dialog().getByText('Install what training needs on this machine?').waitFor();
    await dialog()
      .getByText(/downloads about .+ and takes .+ of disk space/)
      .waitFor();
    await workbench.screenshot('new-run-install-question');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  }
  await button('Prepare the trainer').waitFor();
  await expect.poll(() => runs().list()).toEqual([]);
  await expect(environments()).rejects.toThrow('ENOENT');
});

test('a Python that will not do is one sentence, which goes when another is named', async () => {
  await configure({ 'tandem.training.python': '/project/no-python' });
  await needs()
    .getByText(/^tandem\.training\.python names \/project\/no-python, which is no Python 3\.10 or newer\./)
    .waitFor();
  await pictures('no-python');
  await configure({});
  await button('Prepare the trainer').waitFor();
});

test('the trainer is prepared with progress, can be cancelled, and leaves nothing half-made', async () => {
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
});

test('an index without a package is told with what was run, and after it the trainer is prepared', async () => {
  index.missing = 'torch';
  await button('Prepare the trainer').click();
  await dialog().getByRole('button', { name: 'Install' }).click();
  await needs()
    .getByText(/^The trainer's environment could not be made: .*pip install/)
    .waitFor();
  await needs().scrollIntoViewIfNeeded();
  await pictures('not-prepared');
  await expect.poll(environments).toEqual([]);
  index.missing = undefined;
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
  await form().getByText('as the model tokenizes them').waitFor();
  // The form shows the available numbers, and those from which a gain can be expected.
  await form()
    .getByText(/^The critic would learn from \d pairs?: a better agent was measured with 300\. /)
    .waitFor();
  await form()
    .getByText(/pairs? (is|are) held out: from 16 on, /)
    .waitFor();
  await form()
    .getByText(/^25 of 25 turns come without token ids: /)
    .waitFor();
  await pictures('plan');
  await button('Let the simulator play').scrollIntoViewIfNeeded();
  await pictures('few-data');
});

test('counts follow the filter, and what is left out is said', async () => {
  const agent = form().getByRole('combobox', { name: 'Agent' });
  await agent.selectOption(guesses);
  await says('Trajectories', '6');
  await form()
    .locator('#data-error', { hasText: 'No task has two dialogues with different rewards' })
    .waitFor();
  await form().locator('.left-out').getByText('outside the filter').waitFor();
  await workbench.screenshot('new-run-nothing-to-compare');
  await form().getByRole('radio', { name: 'Rejection fine-tuning' }).check();
  await form().locator('#data-error', { hasText: 'No dialogue is a success' }).waitFor();
  await agent.selectOption('');
  await says('Trajectories', '12');
  await expect.poll(() => form().locator('#data-error').count()).toBe(0);
  await form().getByRole('radio', { name: 'SWEET-RL', exact: true }).check();
});

test('a value that will not do has its sentence beside it, and is where Start leads', async () => {
  await form().getByText('More settings').click();
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

test('a Ray cluster is asked what it has while its address is typed, and the run is planned for it', async () => {
  const where = form().getByRole('radio', { name: 'This machine' });
  await where.focus();
  await where.press('ArrowDown');
  const onCluster = form().getByRole('radio', { name: 'A Ray cluster' });
  await expect.poll(() => onCluster.isChecked()).toBe(true);
  const address = form().getByRole('textbox', { name: 'Address' });
  await address.fill('http://127.0.0.1:9');
  await clusterSays(
    'No Ray dashboard answers at http://127.0.0.1:9: check the address, and that the cluster is up',
  );
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  await button('Start').click();
  await expect.poll(() => address.evaluate((element) => element === document.activeElement)).toBe(true);
  await address.fill(dashboard.address);
  await clusterSays('Ray 2.60.0, 2 nodes, 2 CPUs, 4 × NVIDIA H100 80GB HBM3');
  // The starter model is trained on processors, where nothing else is chosen.
  const workers = form().getByRole('textbox', { name: 'Workers' });
  await expect.poll(() => workers.inputValue()).toBe('2');
  await needs().getByText('It fits the nodes of the cluster.').waitFor();
  await form().getByRole('combobox', { name: 'Device' }).selectOption('auto');
  await expect.poll(() => workers.inputValue()).toBe('4');
  await needs()
    .getByText(/^NVIDIA H100 80GB HBM3, /)
    .waitFor();
  await needs().getByText('unknown until the run has measured it on the cluster').waitFor();
  await workers.fill('9');
  await form().getByText('The cluster has 4 GPUs, one for each worker: the run goes on').waitFor();
  await needs().getByText('for each of 9 workers').waitFor();
  await onCluster.scrollIntoViewIfNeeded();
  await pictures('cluster');
  await workbench.kept(/cluster\.workers\W+9/);
  await workbench.reload();
  await clusterSays('Ray 2.60.0, 2 nodes, 2 CPUs, 4 × NVIDIA H100 80GB HBM3');
  await expect.poll(() => workers.inputValue()).toBe('9');
  await workbench.setSize(700, 800);
  await onCluster.scrollIntoViewIfNeeded();
  await workbench.screenshot('new-run-cluster-narrow');
  await expect.poll(isNarrow).toBe(true);
  await workbench.setSize(1280, 800);
  dashboard.instead = (response) => response.writeHead(503).end();
  await button('Ask the cluster again').press('Enter');
  await clusterSays('is no Ray dashboard (HTTP 503)');
  dashboard.instead = undefined;
  await form().getByRole('combobox', { name: 'Device' }).selectOption('cpu');
  await form().getByRole('radio', { name: 'This machine' }).check();
  await expect.poll(() => address.count()).toBe(0);
});

test('a machine that cannot train is told at Start with what was run and how to mend it, and nothing is left of it', async () => {
  await needs().getByText('It fits this machine.').waitFor();
  // Start is pressed before the plan, which would refuse the run first.
  const goOn = await workbench.hold(/tandem_trainer planner/);
  await form().getByRole('combobox', { name: 'Device' }).selectOption('mps');
  await button('Start').click();
  await form().locator('footer').getByText('This machine cannot train yet.').waitFor();
  goOn();
  const failed = form().locator('footer .checks');
  await failed.getByText('device has failed').waitFor();
  for (const part of ['Command', 'Output', 'How to fix it'])
    await failed.locator('dt', { hasText: part }).first().waitFor();
  await pictures('unfit');
  await expect.poll(() => runs().list()).toEqual([]);
});

test('a refusal of the trainer stands beside the field that it is about', async () => {
  // The form is planned again after a start that failed.
  await form()
    .getByText(/model\.device is mps, but .* finds no such device/)
    .waitFor();
  // The form shows the checks of this machine and their remedies.
  await needs().locator('.checks dt', { hasText: 'How to fix it' }).first().waitFor();
  await workbench.screenshot('new-run-no-such-device');
  await form().getByRole('combobox', { name: 'Device' }).selectOption('cpu');
  await form().locator('footer').getByText('This machine cannot train yet.').waitFor({ state: 'detached' });
  await needs().getByText('It fits this machine.').waitFor();
  // The form's check of the machine goes on a little longer.
  await expect.poll(() => readdir(runs().folder)).toEqual([]);
});

test('a name on the hub is planned when that is asked for, and stands in a file that the command line takes', async () => {
  const base = form().getByRole('combobox', { name: 'Base model' });
  const name = form().getByRole('textbox', { name: 'Hugging Face model ID' });
  await base.selectOption('hub');
  await name.fill('agent');
  await form().getByText('Enter the ID as owner/name').waitFor();
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
  // A downloaded model is planned without another question.
  await name.fill('');
  await needs().getByText('Fix the marked fields').waitFor();
  await name.fill('tiny/agent');
  await needs().getByText('It fits this machine.').waitFor();
  await button('Open as file').click();
  await workbench.page.locator('.view-lines', { hasText: '"base": "tiny/agent"' }).waitFor();
  const file = path.join(workspace, 'hub.json');
  await workbench.runCommand('File: Save As...');
  await workbench.quickInput.chooseFile(file);
  await workbench.page.locator('.tab', { hasText: 'hub.json' }).waitFor();
  await workbench.runCommand('View: Close Editor');
  for (const [variable, value] of Object.entries(hubEnvironment())) vi.stubEnv(variable, value);
  const { code, stdout } = await runNode(['dist/tandem.js', 'train', file, '--plan']);
  vi.unstubAllEnvs();
  expect(code).toBe(0);
  expect(stdout).toMatch(/fits +yes/);
  // No dialogues exist for this model, so the form recommends a warm start on the successes of others.
  await base.scrollIntoViewIfNeeded();
  await form()
    .getByText(/^This model has no dialogue of its own in this log\. Begin with a warm start: /)
    .waitFor();
  await button('Begin with a warm start').scrollIntoViewIfNeeded();
  await pictures('warm-start');
  await button('Begin with a warm start').click();
  await form()
    .getByText(/^A warm start: the model learns how the conversation works/)
    .waitFor();
  await expect
    .poll(() => form().getByRole('radio', { name: 'Rejection fine-tuning' }).isChecked())
    .toBe(true);
  await form().getByRole('combobox', { name: 'Request' }).selectOption('short');
  await form()
    .getByText(/^\d dialogues? to imitate: a better agent was measured with 140\. /)
    .waitFor();
  await needs().getByText('It fits this machine.').waitFor();
  await pictures('warm-start-chosen');
  await form().getByRole('combobox', { name: 'Request' }).selectOption('');
  await form().getByRole('radio', { name: 'SWEET-RL', exact: true }).check();
  for (const setting of ['Learning rate', 'Epochs', 'Max. steps'])
    await button(`${setting}: reset to the recommended value`).click();
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

test('until a start has ended nothing can be changed, and Cancel leaves no run', async () => {
  const method = form().getByRole('radio', { name: 'SWEET-RL', exact: true });
  // The trainer stays in its check of the run, so that this start lasts until it is cancelled.
  const isHeld = holdProcess(({ args }) => args.includes(`tandem_trainer check ${runs().folder}`));
  await button('Start').click();
  await form().getByText('Nothing can be changed here until the run has started.').first().waitFor();
  await isHeld;
  await expect.poll(() => method.isDisabled()).toBe(true);
  await pictures('starting');
  await button('Cancel').click();
  await button('Cancel').waitFor({ state: 'detached' });
  await expect.poll(() => method.isEnabled()).toBe(true);
  await expect.poll(() => runs().list()).toEqual([]);
  await needs().getByText('It fits this machine.').waitFor();
});

test('Start closes the form and shows the run, with what the form said', async () => {
  await button('Start').click();
  await row(/^from the form, /).waitFor();
  await form().getByRole('heading', { name: 'from the form' }).waitFor();
  await form().getByText('SWEET-RL on starter').waitFor();
  await workbench.page.locator('.tab', { hasText: 'New run' }).waitFor({ state: 'detached' });
  const [run] = await runs().list();
  const configuration: unknown = JSON.parse(await readFile(path.join(run!.folder, 'run.json'), 'utf8'));
  expect(configuration).toMatchObject({
    ...{ name: 'from the form', method: 'sweet-rl' },
    model: { training: 'full', device: 'cpu' },
    critic: { beta: 3, score: 'log-ratio' },
  });
  expect(run!.selection).toMatchObject({ trajectories: 12, successes: 3 });
});

test('the page of a run on a cluster has its nodes, with those that are lost', async () => {
  const [run] = await runs().list();
  await expect.poll(() => form().getByRole('table', { name: 'Nodes of the cluster' }).count()).toBe(0);
  const node = (host: string, workers: number, state: string) => ({
    ...{ id: host, host, workers, state },
    gpus: Array.from({ length: workers }, () => 'NVIDIA H100 80GB HBM3'),
  });
  // A trainer on a cluster writes this event (trainer/tests/test_cluster.py); the run itself is one of this machine.
  const nodes = [node('node-1', 2, 'works'), node('node-2', 0, 'lost'), node('node-3', 1, 'back')];
  const told = { version: 1, at: new Date().toISOString(), event: 'nodes', nodes, asked: 4 };
  await appendFile(path.join(run!.folder, 'events.jsonl'), `${JSON.stringify(told)}\n`);
  const table = form().getByRole('table', { name: 'Nodes of the cluster' });
  await table.getByRole('row', { name: /node-2\s+lost\s+0/ }).waitFor();
  await table.getByRole('row', { name: /node-3\s+came back\s+1\s+1 × NVIDIA H100 80GB HBM3/ }).waitFor();
  await form().getByText('3 of 4 workers').waitFor();
  await table.scrollIntoViewIfNeeded();
  await pictures('nodes');
});

test('a run is duplicated into the form, on the same rows or on the log', async () => {
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
