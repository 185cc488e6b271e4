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
import { showRuns } from './runsView';
import { allThemes } from './themes';

// The real trainer makes two short runs of the starter model, and their models really play.

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Runs' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const widget = (): Locator => workbench.quickInput.widget;
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
  await expect.poll(steps).toMatch(/^\d+ to \d+$/);
  await button('Zoom in').press('0');
  await expect.poll(steps).toBe('all steps');
  await button('Zoom in').press('+');
  await expect.poll(steps).toMatch(/^\d+ to \d+$/);
  await button('Show the table').click();
  await table(/^Loss$/)
    .getByRole('columnheader', { name: 'second try' })
    .waitFor();
  await pictures('comparison-table');
  await button('Show the chart').click();
});

test('runs are compared by their training time, and a pinned chart has a line for each of them', async () => {
  await view().getByRole('combobox', { name: 'X-axis' }).selectOption({ label: 'training time' });
  const range = view().getByRole('combobox', { name: 'Time' }).locator('option:checked');
  // A range of steps is none of the training time.
  await expect.poll(() => range.innerText()).toBe('all of it');
  await button('Pin').click();
  const pinned = view().getByRole('region', { name: 'Pinned charts' });
  const card = pinned.getByRole('img', {
    name: /^Loss of critic\. first try: from \S+ at [\d.]+ .*s to .* second try: from \S+ at [\d.]+ .*s to /,
  });
  await card.waitFor();
  await view().getByRole('combobox', { name: 'Metric' }).selectOption({ label: 'Pair accuracy' });
  // A share has no use for a logarithmic axis.
  await view().locator('input:disabled').waitFor();
  await button('Pin').click();
  await pinned.getByRole('img', { name: /^Pair accuracy of critic\. first try: / }).waitFor();
  await pinned.scrollIntoViewIfNeeded();
  await pictures('comparison-pinned');
  await pinned.getByRole('button', { name: 'Loss of critic, held out', exact: true }).click();
  await view().getByRole('region', { name: 'Loss of critic', exact: true }).waitFor();
  await button('Unpin').click();
  await button('Unpin Pair accuracy of critic, held out').click();
  await pinned.waitFor({ state: 'detached' });
  await view().getByRole('combobox', { name: 'X-axis' }).selectOption({ label: 'steps' });
  await button('Zoom in').click();
});

test('the curves are saved as a picture that is twice as sharp, and as numbers without rounding', async () => {
  const canvas = (await view().locator('tandem-chart canvas').boundingBox())!;
  const picture = path.join(workspace, 'loss.png');
  await button('Save as PNG…').click();
  await workbench.quickInput.chooseFile(picture);
  await workbench.notification(/loss\.png is saved\./);
  const { width, height } = await sizeOfPng(picture);
  expect(width).toBe(2 * Math.floor(canvas.width));
  expect(height).toBeGreaterThan(2 * canvas.height);
  await button('Show the table').click();
  await table(/^Loss$/).waitFor();
  await expect.poll(() => button('Save as PNG…').count()).toBe(0);
  await button('Save as CSV…').click();
  const file = path.join(workspace, 'loss.csv');
  await workbench.quickInput.chooseFile(file);
  const notice = await workbench.notification(/loss\.csv is saved\./);
  const [names, ...rows] = (await readFile(file, 'utf8')).trimEnd().split('\r\n');
  expect(names).toBe(
    'run,stage,metric,unit,measured_on,step,training_seconds,steps_averaged,mean,lowest,highest',
  );
  expect(rows.filter((row) => row.startsWith('first try,critic,loss,,training,'))).toHaveLength(6);
  // The zoomed table shows the same numbers, fewer digits of them, and fewer steps.
  const [step, , second] = await table(/^Loss$/)
    .getByRole('row')
    .last()
    .locator('th, td')
    .allTextContents();
  const saved = rows.find((row) => row.startsWith(`second try,critic,loss,,held-out,${step!.trim()},`))!;
  expect(Number(saved.split(',')[8])).toBeCloseTo(Number(second), 2);
  await notice.getByRole('button', { name: 'Open the File' }).click();
  await workbench.page.locator('.tab', { hasText: 'loss.csv' }).waitFor();
  await workbench.runCommand('View: Close Editor');
  await button('Show the chart').click();
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
  await workbench.quickInput.listed('Newly generated starter-world tasks').waitFor();
  await workbench.screenshot('comparison-tasks');
  await workbench.quickInput.pick('Newly generated starter-world tasks');
  await widget().getByText('Evaluate (2/2)').waitFor();
  await workbench.screenshot('comparison-amount');
  await workbench.quickInput.pick(/^All /);
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
  await workbench.quickInput.pick(/^\s*starter-world/);
  await workbench.quickInput.pick(/^The first 20 tasks/);
  const standing = table(/^Held-out success, starter-world, 20 tasks$/);
  await standing.waitFor();
  await expect.poll(() => standing.getByRole('rowheader').count()).toBe(3);
  await standing.getByRole('columnheader', { name: 'Δ vs. base (points)' }).waitFor();
  await standing.scrollIntoViewIfNeeded();
  await pictures('comparison-success');
  await expect.poll(evaluations).toHaveLength(2);
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
  await expect.poll(async () => (await standing.boundingBox())!.y).toBeLessThan(700);
  await workbench.screenshot('comparison-opened');
  await expect.poll(() => view().getByRole('checkbox', { name: 'Logarithmic' }).isChecked()).toBe(true);
  await expect.poll(steps).toMatch(/^\d+ to \d+$/);
});

test('a report is written that can be sent: one file, and its pictures beside it', async () => {
  await button('Write report…').click();
  const file = path.join(workspace, 'experiment.md');
  await workbench.quickInput.chooseFile(file);
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

test('all runs stand in a table, which is sorted, narrowed and worked by the keyboard', async () => {
  const prepared = path.join(workspace, '.tandem', 'runs', '20261120-220501-k3f9');
  await mkdir(prepared, { recursive: true });
  await writeFile(path.join(prepared, 'run.json'), JSON.stringify({ name: 'not started', method: 'rft' }));
  await workbench.runCommand('Tandem: Show Table of Runs');
  const runs = table(/^Runs$/);
  const names = (): Promise<string[]> => runs.locator('tbody th').allInnerTexts();
  await expect.poll(names).toHaveLength(3);
  const gains = async (): Promise<number[]> => {
    const texts = await runs.locator('tbody tr td:nth-child(5)').allInnerTexts();
    return texts.map((text) => Number.parseFloat(text.replace('−', '-')));
  };
  const title = runs.getByRole('button', { name: 'Δ vs. base (points)' });
  const sorted = (order: string): Locator =>
    runs.locator(`[aria-sort="${order}"]`, { hasText: 'Δ vs. base (points)' });
  await title.click();
  await sorted('descending').waitFor();
  const [best, worse, missing] = await gains();
  expect(best).toBeGreaterThanOrEqual(worse!);
  expect(missing).toBeNaN();
  await title.press('Enter');
  await sorted('ascending').waitFor();
  expect(await gains()).toEqual([worse, best, Number.NaN]);
  expect((await names()).at(-1)).toBe('not started');

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
  await filter.fill('rejection');
  await view().getByText('1 of 3 runs').waitFor();
  expect(await names()).toEqual(['not started']);
  await filter.fill('nowhere');
  await view().getByText('No run matches the filter.').waitFor();
  await workbench.screenshot('runs-table-none');
  await filter.fill('try');
  await view().getByText('2 of 3 runs, 2 selected').waitFor();
});

test('the table of runs comes back after a reload, is saved, and leads to runs and their comparison', async () => {
  await workbench.kept(/isDescending\W+false.*text\W+try/s);
  await workbench.reload();
  await view().getByText('2 of 3 runs, 2 selected').waitFor();
  await table(/^Runs$/)
    .locator('[aria-sort="ascending"]', { hasText: 'Δ vs. base' })
    .waitFor();
  const file = path.join(workspace, 'runs.csv');
  await button('Save as CSV…').click();
  await workbench.quickInput.chooseFile(file);
  await workbench.notification(/runs\.csv is saved\./);
  const [, ...rows] = (await readFile(file, 'utf8')).trimEnd().split('\r\n');
  expect(rows).toHaveLength(2);
  for (const row of rows)
    expect(row).toMatch(
      /^\d{8}-\w+-\w+,(first|second) try,done,SWEET-RL,starter,12,6,"starter-world, 20 tasks",[01]/,
    );

  await button('Tags…').click();
  await widget().getByText('Tags of 2 Runs').waitFor();
  await widget().getByRole('textbox').fill('paper');
  await workbench.quickInput.listed('#paper').waitFor();
  await widget().getByRole('textbox').press('Enter');
  await expect
    .poll(() =>
      table(/^Runs$/)
        .getByRole('cell', { name: '#paper' })
        .count(),
    )
    .toBe(2);
  await button('second try').click();
  await view().getByRole('heading', { name: 'second try' }).waitFor();
  await workbench.runCommand('View: Close Editor');
  await button('Compare').click();
  await view().getByRole('heading', { name: 'Comparison of 2 runs' }).waitFor();
});
