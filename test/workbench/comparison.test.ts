import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { finishedRun } from '../fixtures/runs';
import { collectLog } from '../fixtures/trainer';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { showRuns } from './runsView';
import { allThemes } from './themes';

// The real trainer makes two short runs of the starter model, and their models really play.

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Runs' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const widget = (): Locator => workbench.page.locator('.quick-input-widget');
const button = (name: string): Locator => view().getByRole('button', { name, exact: true });
/** Returns the selected option of the list "Steps". */
const steps = (): Promise<string> =>
  view().getByRole('combobox', { name: 'Steps' }).locator('option:checked').innerText();
const table = (name: RegExp): Locator => view().getByRole('region', { name });

const stage = { learning_rate: 3e-4, batch: 4, patience: 0, evaluate_every: 3, max_steps: 6, epochs: 40 };
const configuration = (name: string, beta: number, rate: number): object => ({
  name,
  model: { base: path.join(root, 'dist', 'starter'), training: 'full', device: 'cpu', dtype: 'float32' },
  data: { log: path.join(workspace, '.tandem'), held_out: 0.3, pairing: 'all' },
  critic: { ...stage, beta, nll: 0.1 },
  candidates: { per_turn: 4, pairs_per_turn: 1, trajectories: 0.5, max_new_tokens: 48 },
  policy: { ...stage, learning_rate: rate, max_steps: 4, beta: 0.2, nll: 2 },
  resources: { threads: 1 },
  export: { onnx: ['int8'] },
});

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-comparison-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  await collectLog(path.join(workspace, '.tandem'));
  const runs = new Runs(path.join(workspace, '.tandem'));
  await finishedRun(runs, configuration('first try', 3, 3e-4));
  await finishedRun(runs, configuration('second try', 0.5, 3e-3));
  workbench = await startWorkbench({
    extension: root,
    workspace,
    settings: { 'tandem.sampling.maxTokens': 256, 'tandem.protocol.maxTurns': 6 },
  });
  await showRuns(workbench);
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

/** Takes pictures in every theme and in a narrow window. */
async function pictures(name: string): Promise<void> {
  await workbench.clearNotifications();
  await accessiblePictures(workbench, view(), name, allThemes);
  await workbench.setSize(760, 800);
  await workbench.screenshot(`${name}-narrow`);
  await expectAccessible(view());
  await workbench.setSize(1280, 800);
}

async function pick(text: string | RegExp): Promise<void> {
  await widget().locator('.quick-input-list-row', { hasText: text }).first().click();
}

/** Lists the evaluations in the folders of the runs. */
async function evaluations(): Promise<string[]> {
  const folder = path.join(workspace, '.tandem', 'runs');
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /evaluations[\\/]\w+\.json$/.test(name));
}

test('two runs that are selected are compared: their curves over each other', async () => {
  await row(/^second try, done/).click();
  await row(/^first try, done/).click({ modifiers: ['ControlOrMeta'] });
  await workbench.closeAllEditors();
  await workbench.chooseInMenu(row(/^first try, done/), 'Compare Runs');
  await view().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
  await view()
    .getByRole('img', { name: /^Pair accuracy of policy\. first try: from .* second try: from / })
    .waitFor();
  await pictures('comparison-curves');
});

test('a line is switched off, and the figures of another stage are looked at, logarithmic and as a table', async () => {
  await view().getByRole('combobox', { name: 'Stage' }).selectOption({ label: 'critic' });
  await view().getByRole('combobox', { name: 'Metric' }).selectOption({ label: 'Loss' });
  const both = view().getByRole('img', { name: /^Loss of critic\. .*first try: .*/ });
  await both.waitFor();
  await view().getByRole('checkbox', { name: 'Logarithmic' }).check();
  const legend = view().getByRole('group', { name: 'Runs in the chart' });
  await legend.getByRole('button', { name: 'first try' }).click();
  await both.waitFor({ state: 'detached' });
  await view()
    .getByRole('img', { name: /^Loss of critic\. second try: from / })
    .waitFor();
  await workbench.screenshot('comparison-one-line');
  await legend.getByRole('button', { name: 'first try' }).click();
  await view().getByRole('combobox', { name: 'Measured on' }).selectOption({ label: 'held-out tasks' });
  await button('Zoom in').click();
  expect(await steps()).toMatch(/^\d+ to \d+$/);
  await workbench.page.keyboard.press('0');
  await expect.poll(steps).toBe('all steps');
  await workbench.page.keyboard.press('+');
  await expect.poll(steps).toMatch(/^\d+ to \d+$/);
  await button('Show the table').click();
  await table(/^Loss$/)
    .getByRole('columnheader', { name: 'second try' })
    .waitFor();
  await pictures('comparison-table');
  await button('Show the picture').click();
});

test('each critic stands beside the untrained score', async () => {
  const control = table(/^Critics vs. untrained baseline$/);
  await expect.poll(() => control.getByRole('rowheader').count()).toBe(2);
  await control.getByRole('columnheader', { name: 'Rank correlation with the untrained baseline' }).waitFor();
});

test('configurations are shown where they differ, and opened as a diff', async () => {
  const differences = table(/^Configurations$/);
  await expect
    .poll(() => differences.getByRole('rowheader').allTextContents())
    .toEqual(['critic.beta', 'policy.learning_rate']);
  await expect
    .poll(() => differences.getByRole('cell').allTextContents())
    .toEqual(['3', '0.5', '0.0003', '0.003']);
  await button('Open as diff').click();
  await workbench.page.locator('.tab', { hasText: '↔' }).waitFor();
  await workbench.page.locator('.monaco-diff-editor').first().waitFor();
  await workbench.screenshot('comparison-diff');
  await workbench.runCommand('View: Close Editor');
  await view().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
});

test('an evaluation is cancelled, with nothing kept of it', async () => {
  await button('Evaluate…').click();
  await widget()
    .locator('.quick-input-list-row', { hasText: 'Newly generated starter-world tasks' })
    .waitFor();
  await workbench.screenshot('comparison-tasks');
  await pick('Newly generated starter-world tasks');
  await widget().getByText('Evaluate (2/2)').waitFor();
  await workbench.screenshot('comparison-amount');
  await pick(/^All /);
  await view()
    .getByText(/^starter: \d+ of \d+ tasks$/)
    .waitFor();
  const goOn = await workbench.hold(/inference\.js/);
  await accessiblePictures(workbench, view(), 'comparison-evaluating');
  const notice = await workbench.notification(/Evaluating 2 runs/);
  await notice.getByRole('button', { name: 'Cancel' }).click();
  goOn();
  await button('Evaluate…').waitFor();
  expect(await evaluations()).toEqual([]);
});

test('an evaluation gives success with intervals, and differences on the same tasks', async () => {
  await button('Evaluate…').click();
  await pick(/^\s*starter-world/);
  await pick(/^The first 20 tasks/);
  const standing = table(/^Held-out success, starter-world, 20 tasks$/);
  await standing.waitFor();
  await expect.poll(() => standing.getByRole('rowheader').count()).toBe(3);
  await standing.getByRole('columnheader', { name: 'Δ vs. base (points)' }).waitFor();
  await standing.scrollIntoViewIfNeeded();
  await pictures('comparison-success');
  expect(await evaluations()).toHaveLength(2);
  // Each run's row shows its result as soon as it is known.
  for (const name of ['first', 'second'])
    await row(
      new RegExp(`^${name} try, done, \\d+ → \\d+ %, ([+−]\\d+|0) points \\(\\S+ to \\S+\\), `),
    ).waitFor();
  await workbench.screenshot('runs-with-results');
});

test('after a reload the comparison is back, with what was evaluated', async () => {
  await workbench.kept(/Comparison of 2 runs.*isLogarithmic\W+true/s);
  await workbench.reload();
  await view().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
  // The result is visible without scrolling.
  const standing = table(/^Held-out success, starter-world, 20 tasks$/);
  await standing.waitFor();
  expect((await standing.boundingBox())!.y).toBeLessThan(700);
  await workbench.screenshot('comparison-opened');
  await expect.poll(() => view().getByRole('checkbox', { name: 'Logarithmic' }).isChecked()).toBe(true);
  expect(await steps()).toMatch(/^\d+ to \d+$/);
});

test('a report is written that can be sent: one file, and its pictures beside it', async () => {
  await button('Write report…').click();
  const file = path.join(workspace, 'experiment.md');
  await workbench.chooseFile(file);
  const notice = await workbench.notification(/The report is in experiment\.md/);
  const page = await readFile(file, 'utf8');
  expect(page).toContain('## Held-out success');
  expect(page).toContain('| critic.beta | ');
  for (const place of [workspace, root, os.tmpdir()]) expect(page).not.toContain(place);
  const drawn = await readdir(path.join(workspace, 'experiment-pictures'));
  expect(drawn).toEqual(expect.arrayContaining(['critic.svg', 'policy.svg']));
  await notice.getByRole('button', { name: 'Open the Report' }).click();
  await workbench.page.locator('.tab', { hasText: 'Preview experiment.md' }).waitFor();
  await view().getByRole('img', { name: 'Success with intervals' }).waitFor();
  await workbench.screenshot('comparison-report');
});

test('a run that was evaluated says how far it came from its start', async () => {
  await workbench.closeAllEditors();
  await row(/^first try, done/).click();
  await view()
    .getByText(/^Success \d+ % → \d+ % on 20 held-out tasks, .* points vs\. the base model/)
    .waitFor();
  await accessiblePictures(workbench, view(), 'runs-measured');
});

test('one run alone stands beside its start', async () => {
  await button('Compare').click();
  await widget().getByPlaceholder('Choose runs; a single run is compared with its base model').waitFor();
  await widget().locator('input.input').press('Enter');
  await view().getByRole('heading', { name: 'first try vs. base model' }).waitFor();
  await view()
    .getByRole('img', { name: /^Pair accuracy of policy\. first try: from / })
    .waitFor();
  const standing = table(/^Held-out success, starter-world, 20 tasks$/);
  await expect.poll(() => standing.getByRole('rowheader').count()).toBe(2);
  await expect
    .poll(() =>
      table(/^Critics vs. untrained baseline$/)
        .getByRole('rowheader')
        .count(),
    )
    .toBe(1);
  await button('Evaluate…').waitFor();
  await expect.poll(() => view().getByRole('heading', { name: 'Configurations' }).count()).toBe(0);
  await accessiblePictures(workbench, view(), 'comparison-alone');
  await workbench.runCommand('View: Close Editor');
});
