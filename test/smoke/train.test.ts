import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs, type Run } from '../../src/core/training/runs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { asks } from '../fixtures/dialogue';
import { HeldTrainer } from '../fixtures/held-trainer';
import { collectLog, realTrainer } from '../fixtures/trainer';
import { expectAccessible } from '../workbench/accessibility';
import { gradedHeading, type WorkbenchDriver } from '../workbench/driver';
import { startWorkbench } from '../workbench/launch';
import { moreSettings, newRunForm } from '../workbench/newRunForm';
import { alsoSelect, chooseInMenu, openRow, select } from '../workbench/rows';
import { killTrainers } from '../workbench/runsView';

// A model is connected and plays; then the real trainer trains the starter model on a real log. During checks the
// trainer is suspended, so that its speed does not matter.

const KEY = 'sk-smoke-secret';
const QUESTION = 'At how many kilograms does a parcel count as heavy?';

const stage = { learning_rate: '3e-4', batch: '1', patience: '0', epochs: '10', evaluate_every: '2' };
/** The smallest run that trains, ranks candidates and exports. It writes a checkpoint after every step. */
const SMALL = {
  data: { held_out: '0.4' },
  critic: { ...stage, max_steps: '6' },
  candidates: {
    per_turn: '4',
    pairs_per_turn: '1',
    trajectories: '0.5',
    max_new_tokens: '32',
    temperature: '1.5',
  },
  policy: { ...stage, max_steps: '2' },
  resources: { threads: '1', checkpoint_minutes: '0' },
};

let workspace: string;
let server: ChatServer;
let trainer: HeldTrainer;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const button = (name: string): Locator => view().getByRole('button', { name, exact: true });
const model = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Models' }).getByRole('treeitem', { name });
const run = (name: RegExp): Locator =>
  workbench.page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name }).first();
const composer = (): Locator => view().getByRole('textbox', { name: 'Your reply to the agent' });
const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));

async function newest(): Promise<Run> {
  const [latest] = await runs().list();
  return latest!;
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

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-smoke-train-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  await collectLog(path.join(workspace, '.tandem'), 3);
  server = await startChatServer({
    reply: () => answer(asks(QUESTION)),
    key: KEY,
    models: ['llama-tiny', 'qwen-tiny'],
  });
  trainer = new HeldTrainer(realTrainer().python, newest);
  workbench = await startWorkbench({
    extension: root,
    workspace,
    environment: trainer.environment,
    settings: { 'tandem.sampling.maxTokens': 256 },
  });
});

afterAll(async () => {
  await killTrainers(runs());
  await workbench.close();
  await server.close();
  trainer.dispose();
  await rm(workspace, { recursive: true, force: true });
});

test('connects a model by its address and key, and tests it first', async () => {
  await workbench.showTandem();
  await workbench.openViews('Tasks', 'Models');
  await workbench.runCommand('Tandem: Connect Model…');
  await workbench.quickInput.widget.getByText('Connect a Model (1/4)').waitFor();
  await workbench.quickInput.widget.locator('input.input').fill(server.url);
  await workbench.quickInput.pick(`Use “${server.url}”`);
  await workbench.quickInput.answer('Connect a Model (2/4)', KEY);
  await workbench.quickInput.pick('qwen-tiny');
  await workbench.quickInput.pick('Test Connection');
  await workbench.quickInput.listed('It works: answered in').waitFor();
  await workbench.screenshot('smoke-connection');
  await workbench.quickInput.pick('Connect and Use as Agent');
  await model(/^qwen-tiny, agent, /).waitFor();
});

test('plays a turn with the connected model', async () => {
  const tasks = workbench.page.getByRole('tree', { name: 'Tasks' });
  await openRow(tasks.getByRole('treeitem', { name: /^Parcel surcharge/ }), button('Agree and start'));
  await button('Agree and start').click();
  await view().getByText(QUESTION).waitFor();
  await composer().waitFor();
  expect(server.requests.at(-1)?.body).toMatchObject({ model: 'qwen-tiny' });
  await model(/^qwen-tiny, agent, works, .*, 1 turn/).waitFor();
  await workbench.closeAllEditors();
});

test('starts a run from the form', async () => {
  const form = newRunForm(workbench);
  const more = moreSettings(workbench);
  await workbench.runCommand('Tandem: New Run…');
  await form.getByRole('radio', { name: 'SWEET-RL', exact: true }).check();
  await more.click();
  await form.locator('#field-name').fill('small one');
  for (const [group, values] of Object.entries(SMALL))
    for (const [name, value] of Object.entries(values))
      await form.locator(`#field-${group}-${name}`).fill(value);
  await workbench.screenshot('smoke-new-run');
  await expectAccessible(form);
  trainer.holdAt(/^step critic 4$/);
  await form.getByRole('button', { name: 'Start' }).click();
  await workbench.openViews('Runs');
  await run(/^small one, (preparing|running)/).waitFor();
});

test('draws the curve of the run, pauses it with a checkpoint and resumes it there', async () => {
  const curve = view().getByRole('img', { name: /^Pair accuracy of critic, from / });
  await curve.waitFor();
  await trainer.isHeld();
  await run(/^small one, running, critic \d+ %/).waitFor();
  await workbench.screenshot('smoke-curve');
  await expectAccessible(view());
  await button('Pause').click();
  await run(/^small one, pausing, writes a checkpoint/).waitFor();
  await trainer.release();
  await run(/^small one, paused, critic \d+ %/).waitFor();
  const { progress, state, isLive } = await newest();
  expect([state, isLive]).toEqual(['stopped', false]);
  trainer.holdAt(/^step /);
  await button('Resume').click();
  await trainer.isHeld();
  await run(/^small one, running, critic \d+ %/).waitFor();
  expect((await newest()).progress!.step!).toBeGreaterThan(progress!.latest!.step);
  await trainer.release();
  await run(/^small one, done/).waitFor();
});

test('the trained model answers', async () => {
  await view().getByText('The trained model is ready.').first().waitFor();
  await workbench.screenshot('smoke-run-done');
  await button('Play with it').click();
  await view()
    .getByText(/^agent: small one/)
    .waitFor();
  await workbench.openViews('Tasks');
  const start = view().getByRole('button', { name: /\bstart\b/i });
  await openRow(workbench.page.getByRole('treeitem', { name: /^Course mark/ }), start);
  await start.click();
  await composer()
    .or(view().getByRole('heading', { name: gradedHeading }))
    .first()
    .waitFor();
  expect(await turnsOf(await newest())).toBeGreaterThan(0);
  await workbench.screenshot('smoke-trained-model-plays');
  await workbench.closeAllEditors();
});

test('two runs are compared', async () => {
  await workbench.openViews('Runs');
  await openRow(run(/^small one, done/), button('Continue…'));
  await button('Continue…').click();
  await workbench.quickInput.answer(/^More epochs of its policy/);
  await run(/^small one, continued, done/).waitFor();
  await select(run(/^small one, done/));
  await alsoSelect(run(/^small one, continued, done/));
  await workbench.closeAllEditors();
  await chooseInMenu(
    run(/^small one, done/),
    'Compare Runs',
    view().getByRole('heading', { name: 'Comparison of 2 runs' }),
  );
  await view()
    .getByRole('img', { name: /^Pair accuracy of policy\. small one: from .* small one, continued: from / })
    .waitFor();
  await workbench.screenshot('smoke-comparison');
  await expectAccessible(view());
});
