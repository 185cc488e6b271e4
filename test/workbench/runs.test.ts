import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs, type Run } from '../../src/core/training/runs';
import { HeldTrainer } from '../fixtures/held-trainer';
import { collectLog, realTrainer } from '../fixtures/trainer';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { inChartSettings, killTrainers } from './runsView';
import { moreSettings, newRunForm } from './newRunForm';
import { allThemes } from './themes';

// The page of a run at work. During checks the real trainer is suspended, so that its speed does not matter.

let workspace: string;
let workbench: WorkbenchDriver;
let trainer: HeldTrainer;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Runs' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const button = (name: string): Locator => view().getByRole('button', { name, exact: true });

const stage = { learning_rate: '3e-4', batch: '1', patience: '0', evaluate_every: '10' };
/** Settings entered in the form. With a checkpoint after every step, a kill loses nothing. */
const long = {
  data: { held_out: '0.4' },
  critic: { ...stage, epochs: '1000', max_steps: '60' },
  resources: { threads: '1', checkpoint_minutes: '0' },
};

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-runs-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  await collectLog(path.join(workspace, '.tandem'));
  trainer = new HeldTrainer(realTrainer().python, newest);
  workbench = await startWorkbench({
    extension: root,
    workspace,
    environment: trainer.environment,
  });
  await workbench.showTandem();
});

afterAll(async () => {
  await killTrainers(runs());
  await workbench.close();
  trainer.dispose();
  await rm(workspace, { recursive: true, force: true });
});

const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));

async function newest(): Promise<Run> {
  const [run] = await runs().list();
  return run!;
}

/** Lets the trainer make one more step. */
const oneStepOn = (): Promise<void> => trainer.onTo(/^step /);

/** Takes pictures after closing notifications. */
async function pictures(name: string): Promise<void> {
  await workbench.clearNotifications();
  await accessiblePictures(workbench, view(), name);
}

test('the line of a run at work is in the status bar, and its curve is looked at as a table', async () => {
  const form = newRunForm(workbench);
  const more = moreSettings(workbench);
  await workbench.runCommand('Tandem: New Run…');
  await form.getByRole('radio', { name: 'SWEET-RL', exact: true }).check();
  await more.click();
  await form.locator('#field-name').fill('long one');
  for (const [group, values] of Object.entries(long))
    for (const [name, value] of Object.entries(values))
      await form.locator(`#field-${group}-${name}`).fill(value);
  trainer.holdAt(/^step critic 12$/);
  await form.getByRole('button', { name: 'Start' }).click();
  await workbench.openViews('Runs');
  await row(/^long one, /).waitFor();
  await trainer.isHeld();
  await workbench.page.locator('.statusbar-item', { hasText: /Tandem: run, critic \d+ %/ }).waitFor();
  await view().getByRole('button', { name: /^Loss/ }).click();
  await view()
    .getByRole('img', { name: /^Loss of critic, from / })
    .waitFor();
  await inChartSettings(view(), async () => {
    await view().getByRole('combobox', { name: 'Smoothing' }).selectOption({ label: 'much' });
    await view().getByRole('checkbox', { name: 'Logarithmic' }).check();
    await button('Chart settings').scrollIntoViewIfNeeded();
    await pictures('runs-chart-settings');
    await workbench.setSize(400, 800);
    await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
    await button('Chart settings').scrollIntoViewIfNeeded();
    await workbench.screenshot('runs-chart-settings-400');
    await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
    await workbench.setSize(1280, 800);
  });
  await pictures('runs-live');
  await inChartSettings(view(), async () => {
    await button('Show the table').click();
    await view().getByRole('columnheader', { name: 'Held-out' }).waitFor();
    await button('Show the chart').click();
  });
});

test('charts are pinned below it over the training time, opened large, and unpinned', async () => {
  const pinned = view().getByRole('region', { name: 'Pinned charts' });
  const card = (name: RegExp): Locator => pinned.getByRole('img', { name });
  const metric = view().getByRole('combobox', { name: 'Metric' });
  for (const label of ['Loss', 'Gradient norm', 'Pair accuracy']) {
    await metric.selectOption({ label });
    await inChartSettings(view(), () => button('Pin').click());
    await card(new RegExp(`^${label} of critic, from .* at step `)).waitFor();
  }
  const axis = view().getByRole('combobox', { name: 'X-axis' });
  await inChartSettings(view(), () => axis.selectOption({ label: 'training time' }));
  await card(/^Loss of critic, from \S+ at [\d.]+ .*s to \S+ at [\d.]+ .*s\./).waitFor();
  await pinned.scrollIntoViewIfNeeded();
  await accessiblePictures(workbench, view(), 'runs-pinned', allThemes);
  await workbench.setSize(400, 1000);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await pinned.scrollIntoViewIfNeeded();
  await expectAccessible(view());
  await workbench.screenshot('runs-pinned-400');
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);
  await pinned.getByRole('button', { name: 'Loss of critic', exact: true }).click();
  // Pair accuracy is pinned too: until the loss is shown, Unpin would be its own.
  await expect.poll(() => metric.inputValue()).toBe('loss');
  await inChartSettings(view(), () => button('Unpin').click());
  await card(/^Loss of critic/).waitFor({ state: 'detached' });
  await button('Unpin Pair accuracy of critic').click();
  await card(/^Pair accuracy of critic/).waitFor({ state: 'detached' });
  // The look differs from the one before this step, so that the next one waits until the workbench has kept it.
  await inChartSettings(view(), async () => {
    await view().getByRole('combobox', { name: 'Smoothing' }).selectOption({ label: 'very much' });
    await axis.selectOption({ label: 'steps' });
  });
  await view()
    .getByRole('img', { name: /^Loss of critic, from .* at step / })
    .waitFor();
});

test('while there is no extension host the run goes on, and after a reload the panel follows it as before', async () => {
  await workbench.kept(
    /figure\W+loss\W+smoothing\W+0\.98\W+isLogarithmic\W+true\W+asTable\W+false\W+axis\W+step\W/,
  );
  await workbench.killExtensionHosts();
  await oneStepOn();
  await workbench.reload();
  const { progress, isLive } = await newest();
  expect(isLive).toBe(true);
  await view().getByRole('heading', { name: 'long one' }).waitFor();
  // The panel restores its selection.
  await view()
    .getByRole('img', { name: new RegExp(`^Loss of critic, from .*at step ${progress!.step}\\.`) })
    .waitFor();
  await inChartSettings(view(), () =>
    expect.poll(() => view().getByRole('checkbox', { name: 'Logarithmic' }).isChecked()).toBe(true),
  );
  await view()
    .getByRole('region', { name: 'Pinned charts' })
    .getByRole('img', { name: /^Gradient norm of critic, from / })
    .waitFor();
  await row(/^long one, running, critic \d+ %/).waitFor();
  await button('Pause').waitFor();
  await oneStepOn();
  const { step } = (await newest()).progress!;
  for (const figure of ['Loss', 'Gradient norm'])
    await view()
      .getByRole('img', { name: new RegExp(`^${figure} of critic, from .*at step ${step}\\.`) })
      .waitFor();
});

test('of many events it shows the latest, and opens the file with all of them', async () => {
  const { folder } = await newest();
  const notice = { version: 1, at: new Date().toISOString(), event: 'notice', message: 'Hm.' };
  await appendFile(path.join(folder, 'events.jsonl'), `${JSON.stringify(notice)}\n`.repeat(60));
  const events = view().getByRole('region', { name: 'Events' });
  await events.getByText(/\d+ more events are in the event file/).waitFor();
  await events.scrollIntoViewIfNeeded();
  await pictures('runs-events');
  await events.getByRole('button', { name: 'Open the event file' }).click();
  await workbench.page.locator('.tab', { hasText: 'events.jsonl' }).waitFor();
  await workbench.runCommand('View: Close Editor');
});

test('it is stopped at once after a question', async () => {
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await button('Stop immediately…').click();
  await dialog.getByText('Stop “long one” immediately?').waitFor();
  await dialog.getByRole('button', { name: 'Stop Immediately' }).click();
  await row(/^long one, paused/).waitFor();
});
