import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
import { alsoSelect, chooseInMenu, openRow } from './rows';
import { inChartSettings, showRuns } from './runsView';
import { allThemes } from './themes';

// The real trainer makes two short runs of the starter model, and their models really play.

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Runs' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
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

/** Returns the size of a picture in pixels, which a PNG has behind its signature. */
async function sizeOfPng(file: string): Promise<{ readonly width: number; readonly height: number }> {
  const bytes = await readFile(file);
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Takes pictures in every theme and in a narrow window. */
async function pictures(name: string): Promise<void> {
  await workbench.clearNotifications();
  await accessiblePictures(workbench, view(), name, allThemes);
  await workbench.setSize(760, 800);
  await workbench.screenshot(`${name}-narrow`);
  await expectAccessible(view());
  await workbench.setSize(1280, 800);
}

/** Lists the evaluations in the folders of the runs. */
async function evaluations(): Promise<string[]> {
  const folder = path.join(workspace, '.tandem', 'runs');
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /evaluations[\\/]\w+\.json$/.test(name));
}

test('two runs that are selected are compared: their curves over each other', async () => {
  await openRow(row(/^second try, done/), view().getByRole('heading', { name: 'second try', exact: true }));
  await alsoSelect(row(/^first try, done/));
  await workbench.closeAllEditors();
  await chooseInMenu(
    row(/^first try, done/),
    'Compare Runs',
    view().getByRole('heading', { name: 'Comparison of 2 runs' }),
  );
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
  await inChartSettings(view(), () => view().getByRole('checkbox', { name: 'Logarithmic' }).check());
  const legend = view().getByRole('group', { name: 'Runs in the chart' });
  await legend.getByRole('button', { name: 'first try' }).click();
  await both.waitFor({ state: 'detached' });
  await view()
    .getByRole('img', { name: /^Loss of critic\. second try: from / })
    .waitFor();
  await workbench.screenshot('comparison-one-line');
  await legend.getByRole('button', { name: 'first try' }).click();
  await inChartSettings(view(), async () => {
    await view().getByRole('combobox', { name: 'Measured on' }).selectOption({ label: 'held-out tasks' });
    await button('Zoom in').click();
    await expect.poll(steps).toMatch(/^\d+ to \d+$/);
    await button('Zoom in').press('0');
    await expect.poll(steps).toBe('all steps');
    await button('Zoom in').press('+');
    await expect.poll(steps).toMatch(/^\d+ to \d+$/);
    await workbench.screenshot('comparison-chart-settings');
    await button('Show the table').click();
  });
  await table(/^Loss$/)
    .getByRole('columnheader', { name: 'second try' })
    .waitFor();
  await pictures('comparison-table');
  await inChartSettings(view(), () => button('Show the chart').click());
});

test('the curves are saved as a picture that is twice as sharp', async () => {
  const canvas = (await view().locator('tandem-chart canvas').boundingBox())!;
  const picture = path.join(workspace, 'loss.png');
  await inChartSettings(view(), async () => {
    await button('Save as PNG…').click();
    await workbench.quickInput.chooseFile(picture);
  });
  await workbench.notification(/loss\.png is saved\./);
  const { width, height } = await sizeOfPng(picture);
  expect(width).toBe(2 * Math.floor(canvas.width));
  expect(height).toBeGreaterThan(2 * canvas.height);
});

test('configurations are opened as a diff', async () => {
  await button('Open as diff').click();
  await workbench.page.locator('.tab', { hasText: '↔' }).waitFor();
  await workbench.page.locator('.monaco-diff-editor').first().waitFor();
  await workbench.screenshot('comparison-diff');
  await workbench.runCommand('View: Close Editor');
  await view().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
});

test('a run that was not evaluated offers that first, and stays in the comparison until it is', async () => {
  await openRow(row(/^second try, done/), view().getByRole('heading', { name: 'second try', exact: true }));
  await pictures('run-unevaluated');
  await view().getByText('Not evaluated yet.').waitFor();
  await button('Evaluate…').click();
  await workbench.quickInput.pick(/^\s*starter-world/);
  await workbench.quickInput.pick(/^The first 20 tasks/);
  await table(/^Held-out success, starter-world, 20 tasks: greedy/).waitFor();
  await workbench.runCommand('View: Close Editor');
  await view()
    .getByText(/^Success \d+ % → \d+ % on 20 held-out tasks, greedy, /)
    .waitFor();
  await pictures('run-evaluated');
  await workbench.runCommand('View: Close Editor');
  const half = table(/^Held-out success, starter-world, 20 tasks: greedy/);
  await half.getByRole('row', { name: /^first try not evaluated/ }).waitFor();
  await half.scrollIntoViewIfNeeded();
  await pictures('comparison-unevaluated');
});

test('an evaluation gives success with intervals, and differences on the same tasks', async () => {
  const standing = table(/^Held-out success, starter-world, 20 tasks: greedy/);
  await standing.getByRole('button', { name: 'Evaluate…' }).click();
  await workbench.quickInput.pick(/^\s*starter-world/);
  await workbench.quickInput.pick(/^The first 20 tasks/);
  await standing.getByRole('button', { name: 'Evaluate…' }).waitFor({ state: 'detached' });
  await expect.poll(() => standing.getByRole('rowheader').count()).toBe(3);
  await standing.getByRole('columnheader', { name: 'Δ vs. base (points)' }).waitFor();
  await standing.scrollIntoViewIfNeeded();
  await pictures('comparison-success');
  await expect.poll(evaluations).toHaveLength(2);
  // Each run's row shows its result as soon as it is known.
  for (const name of ['first', 'second'])
    await row(
      new RegExp(`^${name} try, done, \\d+ → \\d+ %, ([+−]\\d+|0) points \\(\\S+ to \\S+\\), greedy, `),
    ).waitFor();
  await workbench.screenshot('runs-with-results');
});

test('after a reload the comparison is back, with what was evaluated', async () => {
  await workbench.kept(/Comparison of 2 runs.*isLogarithmic\W+true/s);
  await workbench.reload();
  await view().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
  // The result is visible without scrolling.
  const standing = table(/^Held-out success, starter-world, 20 tasks: greedy/);
  await standing.waitFor();
  await expect.poll(async () => (await standing.boundingBox())!.y).toBeLessThan(700);
  await workbench.screenshot('comparison-opened');
  await inChartSettings(view(), async () => {
    await expect.poll(() => view().getByRole('checkbox', { name: 'Logarithmic' }).isChecked()).toBe(true);
    await expect.poll(steps).toMatch(/^\d+ to \d+$/);
  });
});

test('the table of runs is sorted, selected and narrowed by the keyboard, also in a narrow window', async () => {
  const prepared = path.join(workspace, '.tandem', 'runs', '20261120-220501-k3f9');
  await mkdir(prepared, { recursive: true });
  await writeFile(path.join(prepared, 'run.json'), JSON.stringify({ name: 'not started', method: 'rft' }));
  await workbench.runCommand('Tandem: Show Table of Runs');
  const runs = table(/^Runs$/);
  await expect.poll(() => runs.locator('tbody th').count()).toBe(3);
  const title = runs.getByRole('button', { name: 'Δ vs. base (points)' });
  for (const order of ['descending', 'ascending']) {
    await title.press('Enter');
    await runs.locator(`[aria-sort="${order}"]`, { hasText: 'Δ vs. base (points)' }).waitFor();
  }
  await view().getByRole('checkbox', { name: 'Select first try' }).focus();
  await workbench.page.keyboard.press('Home');
  await workbench.page.keyboard.press('Space');
  await workbench.page.keyboard.press('ArrowDown');
  await workbench.page.keyboard.press('Space');
  await view().getByText('3 runs, 2 selected').waitFor();
  await pictures('runs-table');
  await workbench.setSize(400, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.screenshot('runs-table-400');
  await expectAccessible(view());
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);

  const filter = view().getByRole('textbox', { name: 'Filter by name, tag, note, …' });
  await filter.fill('nowhere');
  await view().getByText('No run matches the filter.').waitFor();
  await filter.fill('try');
  await view().getByText('2 of 3 runs, 2 selected').waitFor();
});

test('the table of runs comes back after a reload, and leads to runs and their comparison', async () => {
  await workbench.kept(/isDescending\W+false.*text\W+try/s);
  await workbench.reload();
  await view().getByText('2 of 3 runs, 2 selected').waitFor();
  await table(/^Runs$/)
    .locator('[aria-sort="ascending"]', { hasText: 'Δ vs. base' })
    .waitFor();
  await button('second try').click();
  await view().getByRole('heading', { name: 'second try' }).waitFor();
  await workbench.runCommand('View: Close Editor');
  await button('Compare').click();
  await view().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
});
