import { existsSync } from 'node:fs';
import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs, type Run } from '../../src/core/training/runs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { HeldTrainer } from '../fixtures/held-trainer';
import { collectLog, realTrainer } from '../fixtures/trainer';
import { accessiblePictures, expectAccessible } from './accessibility';
import { ChatView, parking } from './chatView';
import { gradedHeading, type WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { chooseInMenu, openRow } from './rows';
import { killTrainers, newRunButton, showRuns } from './runsView';
import { newRunForm } from './newRunForm';
import { allThemes } from './themes';

// The story leads from the form to a model that answers, with the real trainer, a real log and the starter model.
// During checks the trainer process is suspended, so that its speed does not matter.

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
  candidates: { per_turn: '4', pairs_per_turn: '1', trajectories: '0.1', max_new_tokens: '40' },
  policy: { ...stage, epochs: '10', max_steps: '2' },
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
    settings: {
      'chat.disableAIFeatures': false,
      'tandem.sampling.maxTokens': 256,
      'tandem.protocol.maxTurns': 6,
    },
  });
  await showRuns(workbench);
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

/** Counts the agent turns of a run's model in the log. */
async function turnsOf({ id }: Run): Promise<number> {
  const log = await TrajectoryLog.open(path.join(workspace, '.tandem'));
  try {
    const { rows } = log.list({ filter: { agent: `local:.tandem/runs/${id}/model` }, offset: 0, limit: 9 });
    return rows.reduce((sum, { turns }) => sum + turns, 0);
  } finally {
    await log.close();
  }
}

const nextStage = /^state running /;
const running = (stage: string): string => `running, ${stage}`;

/** Lets the trainer make one more step. */
const oneStepOn = (): Promise<void> => trainer.onTo(/^step /);

/** Takes pictures after closing notifications. */
async function pictures(name: string): Promise<void> {
  await workbench.clearNotifications();
  await accessiblePictures(workbench, view(), name);
}

test('an empty view says what it is for, and offers the first run', async () => {
  await newRunButton(workbench).waitFor();
  await workbench.screenshot('runs-empty');
});

test('a run of the form is followed live, with its curves', async () => {
  const form = newRunForm(workbench);
  const more = form.getByText('More settings');
  await openRow(newRunButton(workbench), more);
  await more.click();
  await form.locator('#field-name').fill('long one');
  for (const [group, values] of Object.entries(long))
    for (const [name, value] of Object.entries(values))
      await form.locator(`#field-${group}-${name}`).fill(value);
  trainer.holdAt(/^step critic 12$/);
  await form.getByRole('button', { name: 'Start' }).click();
  await view()
    .getByRole('img', { name: /^Pair accuracy of critic, from / })
    .waitFor();
  await trainer.isHeld();
  await row(/^long one, running, critic \d+ %/).waitFor();
  await button('Pause').waitFor();
  await workbench.page.locator('.statusbar-item', { hasText: /Tandem: critic \d+ %/ }).waitFor();
  await pictures('runs-live');
});

test('looks at another figure, smoothed and logarithmic, and at the same numbers as a table', async () => {
  await view().getByRole('button', { name: /^Loss/ }).click();
  await view()
    .getByRole('img', { name: /^Loss of critic, from / })
    .waitFor();
  await view().getByRole('combobox', { name: 'Smoothing' }).selectOption({ label: 'much' });
  await view().getByRole('checkbox', { name: 'Logarithmic' }).check();
  await workbench.screenshot('runs-log-scale');
  await button('Show the table').click();
  await view().getByRole('columnheader', { name: 'Held-out' }).waitFor();
  await pictures('runs-table');
  await button('Show the chart').click();
  await view()
    .getByRole('img', { name: /^Loss of critic, from / })
    .waitFor();
});

test('charts are pinned below it over the training time, opened large, and unpinned', async () => {
  const pinned = view().getByRole('region', { name: 'Pinned charts' });
  const card = (name: RegExp): Locator => pinned.getByRole('img', { name });
  const metric = view().getByRole('combobox', { name: 'Metric' });
  for (const label of ['Loss', 'Gradient norm', 'Pair accuracy']) {
    await metric.selectOption({ label });
    await button('Pin').click();
    await card(new RegExp(`^${label} of critic, from .* at step `)).waitFor();
  }
  await view().getByRole('combobox', { name: 'X-axis' }).selectOption({ label: 'training time' });
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
  await button('Show the table').click();
  await pinned.getByRole('columnheader', { name: 'Training time' }).first().waitFor();
  await pictures('runs-pinned-table');
  await button('Show the chart').click();
  await pinned.getByRole('button', { name: 'Loss of critic', exact: true }).click();
  await button('Unpin').click();
  await card(/^Loss of critic/).waitFor({ state: 'detached' });
  await button('Unpin Pair accuracy of critic').click();
  await card(/^Pair accuracy of critic/).waitFor({ state: 'detached' });
  // The look differs from the one before this step, so that the next one waits until the workbench has kept it.
  await view().getByRole('combobox', { name: 'Smoothing' }).selectOption({ label: 'very much' });
  await view().getByRole('combobox', { name: 'X-axis' }).selectOption({ label: 'steps' });
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
  await expect.poll(() => view().getByRole('checkbox', { name: 'Logarithmic' }).isChecked()).toBe(true);
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

test('is paused with a checkpoint, and resumed where it was', async () => {
  await button('Pause').click();
  await row(/^long one, pausing, writes a checkpoint/).waitFor();
  await trainer.release();
  await row(/^long one, paused, critic \d+ %/).waitFor();
  await button('Resume').waitFor();
  const { progress, state, isLive } = await newest();
  expect([state, isLive]).toEqual(['stopped', false]);
  await pictures('runs-paused');
  trainer.holdAt(/^step /);
  await button('Resume').click();
  await trainer.isHeld();
  await row(/^long one, running, critic \d+ %/).waitFor();
  expect((await newest()).progress!.step!).toBeGreaterThan(progress!.latest!.step);
});

test('a trainer that is killed is reported with what it said last, and a button resumes it to its end', async () => {
  // The run is stopped before it has candidates, which would exist when it is resumed.
  await trainer.onTo(nextStage);
  const { process: killed, folder, progress } = await newest();
  expect(progress!.stage).toBe('candidates');
  // A library prints such a message before its process crashes.
  await appendFile(path.join(folder, 'trainer.log'), 'CUDA error: the launch failed\n');
  process.kill(killed!.pid, 'SIGKILL');
  await row(/^long one, died, /).waitFor();
  const outcome = view().getByRole('region', { name: 'Outcome' });
  await outcome.getByText(/Its trainer \(process \d+\) ended without a message/).waitFor();
  await outcome.getByText('CUDA error: the launch failed').waitFor();
  const death = /long one: died\..* The last one: CUDA error: the launch failed/;
  await (await workbench.notification(death)).getByRole('button', { name: 'Show' }).waitFor();
  await workbench.screenshot('runs-died-notice');
  await workbench.page.keyboard.press('Escape');
  await accessiblePictures(workbench, view(), 'runs-died');
  trainer.holdAt(/^start$/);
  await (await workbench.notification(death)).getByRole('button', { name: 'Resume' }).click();
  await trainer.isHeld();
});

test('also before the first event and in a stage without steps the extension host may die, and the next one finds the run', async () => {
  const stages = ['preparing', ...['candidates', 'ranking', 'policy', 'export'].map(running)];
  for (const where of stages) {
    if (where !== 'preparing') await trainer.onTo(nextStage);
    // The trainer is at the expected stage; none is skipped or met twice.
    const { state, progress } = await newest();
    expect(state === 'preparing' ? state : running(progress!.stage!)).toBe(where);
    // The other stages look like these and the critic.
    if (!/preparing|candidates/.test(where)) continue;
    await workbench.killExtensionHosts();
    await workbench.reload();
    await row(new RegExp(`^long one, ${where}`)).waitFor();
    await view().getByRole('heading', { name: 'long one' }).waitFor();
  }
  await trainer.release();
  await row(/^long one, done/).waitFor();
});

test('done, it has a model, which answers in a session', async () => {
  await view().getByText('The trained model is ready.').first().waitFor();
  await view().getByText('Not evaluated yet.').waitFor();
  await view().getByText('Turns that the critic likes').waitFor();
  await pictures('runs-done');
  await button('Evaluate…').click();
  await workbench.quickInput.widget.getByText('Evaluate (1/2)').waitFor();
  await workbench.quickInput.dismiss();
  await view().getByRole('heading', { name: 'long one vs. base model' }).waitFor();
  await workbench.runCommand('View: Close Editor');
  // With no further run, there is no question.
  await button('Compare').click();
  await view().getByRole('heading', { name: 'long one vs. base model' }).waitFor();
  await button('Evaluate…').waitFor();
  await workbench.runCommand('View: Close Editor');
  await button('Play with it').click();
  await button('Agree and start').click();
  await view()
    .getByText(/^agent: long one/)
    .waitFor();
  const composer = view().getByRole('textbox', { name: 'Your reply to the agent' });
  await composer.or(view().getByRole('heading', { name: gradedHeading })).waitFor();
  expect(await turnsOf(await newest())).toBeGreaterThan(0);
  await workbench.screenshot('runs-play');
});

test('what was trained answers as @tandem in the chat, and is in its picker', async () => {
  await workbench.closeAllEditors();
  await openRow(row(/^long one, done/), button('Use in chat'));
  const chat = new ChatView(workbench);
  await button('Use in chat').click();
  // The editor's agent mode offers only models that call tools, so this one needs another mode.
  await chat.input.getByText('@tandem').waitFor();
  await expect.poll(() => chat.content.locator('.model-picker-name').textContent()).toBe('long one');
  await chat.say(parking);
  await chat.asksOrAnswers.waitFor();
  await workbench.screenshot('chat-trained');
  await workbench.runCommand('View: Toggle Secondary Side Bar Visibility');
});

test('a model that plays is not deleted', async () => {
  await chooseInMenu(row(/^long one, done/), 'Delete Run…');
  await workbench.notification(/is the agent. Choose another agent/);
  await workbench.clearNotifications();
});

test('with more epochs it goes on as another run, whose curves begin with those of the first', async () => {
  await workbench.closeAllEditors();
  await openRow(row(/^long one, done/), button('Continue…'));
  await button('Continue…').click();
  const [before] = await runs().list();
  await workbench.quickInput.widget.getByText(/^More epochs of its policy/).waitFor();
  await workbench.screenshot('runs-continue');
  await workbench.quickInput.answer(/^More epochs of its policy/);
  await view().getByRole('heading', { name: 'long one, continued' }).waitFor();
  await row(/^long one, continued, done/).waitFor();
  const more = (await newest()).progress!.latest!.step;
  expect(more).toBeGreaterThan(before!.progress!.latest!.step);
  await view()
    .getByRole('img', { name: new RegExp(`of policy, from .* at step 1 to .* at step ${more}\\.`) })
    .waitFor();
  await workbench.screenshot('runs-continued');
});

test('a duplicate of it is changed and started', async () => {
  await chooseInMenu(row(/^long one, done/), 'Duplicate Run with Changes…');
  const form = newRunForm(workbench);
  await form.getByRole('heading', { name: 'New run like long one' }).waitFor();
  await workbench.screenshot('runs-duplicate');
  trainer.holdAt(/^step /);
  await form.getByRole('button', { name: 'Start' }).click();
  await view().getByRole('heading', { name: 'long one, changed' }).waitFor();
  await row(/^long one, changed, (preparing|running)/).waitFor();
  await trainer.isHeld();
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

test('it is stopped at once, and deleted with what it takes', async () => {
  const { folder } = await newest();
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await button('Stop immediately…').click();
  await dialog.getByText('Stop “long one, changed” immediately?').waitFor();
  await dialog.getByRole('button', { name: 'Stop Immediately' }).click();
  await row(/^long one, changed, paused/).waitFor();
  await chooseInMenu(
    row(/^long one, changed, paused/),
    'Delete Run…',
    dialog.getByText(/Delete the run “long one, changed” \([\d.]+ [kM]B\)\?/),
  );
  await workbench.screenshot('runs-delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await row(/^long one, changed/).waitFor({ state: 'detached' });
  await expect.poll(() => existsSync(path.join(folder, 'run.json'))).toBe(false);
});
