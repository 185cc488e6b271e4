import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { collectLog } from '../fixtures/trainer';
import { violations } from './accessibility';
import { startWorkbench, type Theme, type WorkbenchDriver } from './driver';
import { killTrainers, showRuns, trainerEnvironment } from './runsView';
import { newRunForm } from './newRunForm';

// The real trainer plans and trains the starter model on a real log.

let workspace: string;
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

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-new-run-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  workbench = await startWorkbench({
    extension: root,
    workspace,
    environment: trainerEnvironment(),
  });
  // A trainer imports torch before it says a word.
  workbench.page.setDefaultTimeout(150_000);
  await showRuns(workbench);
});

afterAll(async () => {
  await killTrainers(runs());
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

/** In every theme, in which everybody can use what the form draws. */
async function pictures(name: string): Promise<void> {
  await workbench.runCommand('Notifications: Clear All Notifications');
  for (const theme of ['hc-dark', 'light', 'dark'] satisfies Theme[]) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`new-run-${name}-${theme}`);
    expect(await violations(form())).toEqual([]);
  }
}

async function says(figureLabel: string, value: string): Promise<void> {
  await figure(figureLabel)
    .filter({ hasText: new RegExp(`^${value}$`) })
    .waitFor();
}

test('without a dialogue the form says where they come from, and follows when there are some', async () => {
  await workbench.page.getByRole('button', { name: 'New Run…' }).click();
  await form().getByText('Agents learn from dialogues').waitFor();
  await button('Let the simulator play').waitFor();
  await button('Play a task').waitFor();
  await button('Import trajectories…').waitFor();
  expect(await button('Start').count()).toBe(0);
  await pictures('empty');
  guesses = await collectLog(path.join(workspace, '.tandem'));
  await says('Trajectories', '12');
  await says('Successes', '3');
  await says('Pairs', '6');
});

test('plans the run with the defaults: time, memory, device', async () => {
  await form().locator('.needs').scrollIntoViewIfNeeded();
  await form().locator('.needs').getByText('It fits this machine.').waitFor();
  await form()
    .locator('footer')
    .getByText(/^about .+ of .+ GB/)
    .waitFor();
  await form().getByText('as the model reads them').waitFor();
  await pictures('plan');
});

test('counts follow the filter, and what is left out is said', async () => {
  const agent = form().getByRole('combobox', { name: 'Agent' });
  await agent.selectOption(guesses);
  await says('Trajectories', '6');
  await form().locator('#data-error', { hasText: 'No task has a better dialogue' }).waitFor();
  await form().locator('.left-out').getByText('outside the filter').waitFor();
  await workbench.screenshot('new-run-nothing-to-compare');
  await form().getByRole('radio', { name: 'Rejection fine-tuning' }).check();
  await form().locator('#data-error', { hasText: 'No dialogue is a success' }).waitFor();
  await agent.selectOption('');
  await says('Trajectories', '12');
  expect(await form().locator('#data-error').count()).toBe(0);
  await form().getByRole('radio', { name: 'SWEET-RL', exact: true }).check();
});

test('a value that will not do has its sentence beside it, and is where Start leads', async () => {
  await form().getByText('More settings').click();
  const beta = form().getByRole('group', { name: 'Critic' }).getByRole('textbox', { name: 'Beta' });
  expect(await beta.inputValue()).toBe('3');
  await beta.fill('0');
  await form().getByText('Write a number above 0.').waitFor();
  expect(await beta.getAttribute('aria-invalid')).toBe('true');
  const described = (await beta.getAttribute('aria-describedby'))!.split(' ');
  expect(await form().locator(`#${described[0]}`).textContent()).toContain('Write a number above 0.');
  await button('Start').click();
  await expect.poll(() => beta.evaluate((element) => element === document.activeElement)).toBe(true);
  await beta.scrollIntoViewIfNeeded();
  await pictures('error');
  expect(await runs().list()).toEqual([]);
  // By the keyboard, from the field back to the button before it.
  await button('Beta: back to what is recommended').press('Enter');
  await expect.poll(() => beta.inputValue()).toBe('3');
  await form().getByText('Write a number above 0.').waitFor({ state: 'detached' });
});

test('is kept over a reload, and fits a narrow editor', async () => {
  await form().getByRole('textbox', { name: 'Name', exact: true }).fill('from the form');
  await form().getByText('1 changed').waitFor();
  await workbench.kept(/from the form/);
  await workbench.reload();
  await form().getByText('1 changed').waitFor();
  expect(await form().getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('from the form');
  await says('Trajectories', '12');
  await workbench.setSize(700, 800);
  await form().getByRole('heading', { name: 'New run' }).scrollIntoViewIfNeeded();
  await workbench.screenshot('new-run-narrow');
  expect(
    await form()
      .locator('main')
      .evaluate((main) => main.scrollWidth <= main.clientWidth),
  ).toBe(true);
  await workbench.setSize(1280, 800);
});

test('a refusal of the trainer stands beside the field that it is about', async () => {
  await form().getByRole('combobox', { name: 'Device' }).selectOption('mps');
  await form()
    .getByText(/model\.device is mps, but .* finds no such device/)
    .waitFor();
  // What was looked at on this machine, with what to do about it.
  await form().locator('.checks dt', { hasText: 'To mend it' }).first().waitFor();
  await workbench.screenshot('new-run-no-such-device');
  await form().getByRole('combobox', { name: 'Device' }).selectOption('cpu');
  await form().locator('.needs').getByText('It fits this machine.').waitFor();
});

test('opens as a file that can be started', async () => {
  await button('Open as file').click();
  await workbench.page.locator('.tab', { hasText: 'Untitled-1' }).waitFor();
  await workbench.page.locator('.view-lines', { hasText: '"name": "from the form"' }).waitFor();
  await workbench.page.getByRole('button', { name: 'Start Run from This File' }).first().waitFor();
  await workbench.runCommand('View: Revert and Close Editor');
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

test('a run is duplicated into the form, on the same rows or on the log', async () => {
  await workbench.chooseInMenu(row(/^from the form/), 'Duplicate Run with Changes…');
  await form().getByRole('heading', { name: 'New run like from the form' }).waitFor();
  expect(await form().getByRole('radio', { name: 'Those of from the form' }).isChecked()).toBe(true);
  expect(await form().getByRole('combobox', { name: 'Agent' }).count()).toBe(0);
  await says('Trajectories', '12');
  await workbench.screenshot('new-run-duplicate');
  await form().getByRole('radio', { name: 'From the log, as it is now' }).check();
  await form().getByRole('combobox', { name: 'Agent' }).waitFor();
  await says('Trajectories', '12');
});
