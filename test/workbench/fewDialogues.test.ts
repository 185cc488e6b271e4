import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Runs } from '../../src/core/training/runs';
import { accessiblePictures } from './accessibility';
import { gradedHeading, type WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { moreSettings } from './newRunForm';
import { killTrainers, trainerEnvironment } from './runsView';
import { allThemes } from './themes';

// A person plays ten dialogues with the starter model, which then learns from them. Everything is real, only small.

const DIALOGUES = 10;
const MAX_TURNS = 6;

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const button = (name: string): Locator => view().getByRole('button', { name, exact: true });
const composer = (): Locator => view().getByRole('textbox', { name: 'Your reply to the agent' });
const graded = (): Locator => view().getByRole('heading', { name: gradedHeading });
const runs = (): Runs => new Runs(path.join(workspace, '.tandem'));

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-few-'));
  for (const name of ['.vscode', 'starter-world.jsonl'])
    await cp(path.join(root, 'samples', 'workspace', name), path.join(workspace, name), { recursive: true });
  workbench = await startWorkbench({
    ...{ extension: root, workspace, environment: trainerEnvironment() },
    settings: { 'tandem.session.openReference': false },
  });
  await workbench.showTandem();
});

afterAll(async () => {
  await workbench.close();
  await killTrainers(runs());
  await rm(workspace, { recursive: true, force: true });
});

/** Sends a suggested reply to the first question of the agent, and has no preference after that. */
async function playToTheEnd(): Promise<void> {
  for (let turn = 1; turn <= MAX_TURNS; turn += 1) {
    await composer().or(graded()).first().waitFor();
    if (await graded().isVisible()) return;
    if (turn === 1) {
      await button('Suggest').click();
      await view().getByText('Drafted by Simulator (rules). Edit or send.').waitFor();
      await button('Send').click();
    } else await button('No preference').click();
    await view()
      .getByText(`turn ${turn + 1} of ${MAX_TURNS}`)
      .or(graded())
      .first()
      .waitFor();
  }
  await graded().waitFor();
}

test('plays ten tasks once each', async () => {
  await workbench.runCommand('Tandem: Play Next Task');
  await view().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await button('Agree and start').click();
  for (let played = 0; played < DIALOGUES; played += 1) {
    if (played > 0) {
      await button('Next task').click();
      await button('Start').click();
    }
    await playToTheEnd();
  }
  await workbench.closeAllEditors();
});

test('finds distillation selected, with the reason and what to expect', async () => {
  await workbench.runCommand('Tandem: New Run…');
  await view().getByText(`${DIALOGUES} dialogues of ${DIALOGUES} tasks, `).first().waitFor();
  await expect
    .poll(() => view().getByRole('radio', { name: 'Distillation', exact: true }).isChecked())
    .toBe(true);
  await view().getByText('Too few to expect a better agent: Distillation needs 20').waitFor();
  const reason = view().getByText('Distillation is selected: it learns from one dialogue of each task');
  await reason.waitFor();
  await view().getByText('It fits this machine.', { exact: true }).waitFor();
  await accessiblePictures(workbench, view(), 'few-dialogues-form', allThemes);
  await workbench.setSize(400, 1000);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.screenshot('few-dialogues-form-400');
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);
});

test('keeps a method that is chosen over a reload of the window', async () => {
  const reason = view().getByText('Distillation is selected');
  const imitation = view().getByRole('radio', { name: 'Rejection fine-tuning', exact: true });
  await imitation.check();
  await reason.waitFor({ state: 'detached' });
  await workbench.kept(/rft/);
  await workbench.reload();
  await expect.poll(() => imitation.isChecked()).toBe(true);
  await view().getByRole('radio', { name: 'Distillation', exact: true }).check();
});

test('trains the agent on them', async () => {
  await moreSettings(workbench).click();
  await view().locator('#field-distill-max_steps').fill('2');
  await view().locator('#field-resources-threads').fill('1');
  await button('Start').click();
  await view()
    .getByRole('heading', { name: /^Distillation 1/ })
    .waitFor();
  await view().getByText('The trained model is ready.').first().waitFor();
  expect(await runs().list()).toMatchObject([{ state: 'done', name: 'Distillation 1' }]);
  await workbench.screenshot('few-dialogues-run');
});
