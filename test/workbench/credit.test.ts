import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { isRunning } from '../../src/core/trajectory/running';
import { collectLog, realTrainer, tinyCritic } from '../fixtures/trainer';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench, type WorkbenchOptions } from './launch';
import { alsoSelect, chooseInMenu, openRow, select } from './rows';
import { allThemes, type Theme } from './themes';

// A critic with random weights, exported by the real trainer, is in the folders where runs, loops and scoreboards put
// theirs. The loop's critic has no graphs, so the real trainer scores with it.

let workspace: string;
let trained: string;
/** Resolves to the critic's folder once it is exported, which takes a while. */
let critic: Promise<string>;
/** While this file is there, the trainer does not begin to score. */
let hold: string;
/** File that contains the id of the scoring process. */
let scoring: string;
let workbench: WorkbenchDriver;

const replay = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Trajectories' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const quickInput = (): Locator => workbench.quickInput.widget;

const turn = (number: number): Locator =>
  replay().getByRole('group', { name: `Turn ${number}`, exact: true });
const bars = (unit = 'nats/token'): Locator =>
  replay().getByRole('img', { name: new RegExp(`^(Helped|Hurt): [+−]\\d+\\.\\d+ ${unit}; untrained `) });
const verdict = (number: number, agrees: boolean): Locator =>
  turn(number).getByRole('button', {
    name: agrees ? 'Agree with the critic' : 'Disagree with the critic',
    exact: true,
  });

/** Accepts the proposed pseudonym, purpose and level. */
async function agree(): Promise<void> {
  const asked = await workbench.notification(/logged under a pseudonym/);
  await asked.getByRole('button', { name: 'Choose…' }).click();
  for (const step of ['(1/3)', '(2/3)', '(3/3)']) await workbench.quickInput.answer(step);
}

/** Opens a dialogue that has no credit yet, and asks for it. */
async function openCredit(dialogue: RegExp): Promise<void> {
  const see = replay().getByRole('button', { name: 'see the credit of each turn…' });
  await openRow(row(dialogue), see);
  await see.click();
}

/** Finds a row of the list by its whole text. */
const offered = (text: RegExp): Locator => quickInput().getByRole('option').filter({ hasText: text });

/** Takes pictures that include a turn's hover. */
async function pictures(name: string, themes: readonly Theme[]): Promise<void> {
  await workbench.clearNotifications();
  await turn(1).first().hover();
  await accessiblePictures(workbench, replay(), name, themes);
}

async function narrowPicture(name: string): Promise<void> {
  await workbench.setSize(700, 800);
  await workbench.screenshot(`${name}-narrow`);
  await expectAccessible(replay());
  await workbench.setSize(1280, 800);
}

/** Creates a run with a critic in the data folder, or in a loop or scoreboard in it. */
async function leaveCritic(
  run: string,
  configuration: object,
  { about: changed, withGraphs = true }: { readonly about?: object; readonly withGraphs?: boolean } = {},
): Promise<void> {
  const folder = path.join(workspace, '.tandem', run);
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'run.json'),
    JSON.stringify({ model: { base: 'tiny' }, ...configuration }),
  );
  await cp(await critic, path.join(folder, 'critic'), { recursive: true });
  const about = path.join(folder, 'critic', 'critic.json');
  const exported = JSON.parse(await readFile(about, 'utf8')) as object;
  await writeFile(about, JSON.stringify({ ...exported, ...changed }));
  if (!withGraphs) await rm(path.join(folder, 'critic', 'onnx'), { recursive: true });
}

/** Creates an interpreter of the real trainer that can be held before it scores. */
async function heldPython(folder: string): Promise<string> {
  hold = path.join(folder, 'hold');
  scoring = path.join(folder, 'scoring');
  const script = path.join(folder, 'python');
  const lines = [
    '#!/bin/sh',
    `case "$*" in *tandem_trainer\\ score*) echo $$ > "${scoring}"; while [ -e "${hold}" ]; do sleep 0.1; done;; esac`,
    `exec "${realTrainer().python}" "$@"`,
  ];
  await writeFile(script, `${lines.join('\n')}\n`, { mode: 0o755 });
  return script;
}

/** Reads the verdicts of the log, oldest first. */
async function verdicts(): Promise<unknown[]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  const lines = texts.join('').split('\n');
  return lines.filter((line) => line.includes('"credit-verdict"')).map((line) => JSON.parse(line) as unknown);
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-credit-'));
  trained = await mkdtemp(path.join(os.tmpdir(), 'tandem-critic-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  critic = tinyCritic(trained);
  // `leaveCritic` awaits it; this prevents an unhandled rejection before.
  critic.catch(() => undefined);
  await collectLog(path.join(workspace, '.tandem'), 2);
  await start({ environment: { TANDEM_TRAINER_PYTHON: await heldPython(trained) } });
});

async function start(options: Partial<WorkbenchOptions>): Promise<void> {
  workbench = await startWorkbench({ extension: root, workspace, ...options });
  await workbench.showTandem();
  await tree().getByRole('treeitem').first().waitFor();
  await workbench.openViews('Trajectories');
}

afterAll(async () => {
  await workbench.close();
  await Promise.allSettled([critic]);
  await rm(workspace, { recursive: true, force: true });
  await rm(trained, { recursive: true, force: true });
});

beforeEach(() => workbench.clearNotifications());

test('without a critic one sentence says how to get one', async () => {
  await openCredit(/^Parcel surcharge, .*asks-first/);
  const told = await workbench.notification(
    /There is no critic in this workspace\. A SWEET-RL run trains one/,
  );
  for (const name of ['New Run…', 'Choose Folder…']) await told.getByRole('button', { name }).waitFor();
});

test('the critic of a run is chosen and its credit stands at the left of each turn', async () => {
  await leaveCritic('runs/20261122-100000-abcd', { name: 'first try' });
  const measured = {
    held_out_accuracy: 0.78,
    held_out_untrained_accuracy: 0.55,
    held_out_examples: 40,
  };
  await writeFile(
    path.join(workspace, '.tandem', 'runs', '20261122-100000-abcd', 'events.jsonl'),
    `${JSON.stringify({ version: 1, at: '2026-11-22T10:00:00Z', event: 'result', stages: { critic: measured } })}\n`,
  );
  await replay().getByRole('button', { name: 'see the credit of each turn…' }).click();
  await offered(
    /first try.*held-out pair accuracy 78 %, untrained 55 % · not reviewed yet.*SWEET-RL on tiny/,
  ).waitFor();
  await workbench.quickInput.pick('first try');
  await bars().first().waitFor();
  await expect
    .poll(() => bars().count())
    .toBe(
      await replay()
        .getByRole('group', { name: /^Turn \d+$/ })
        .count(),
    );
  await replay().getByText('critic: first try').waitFor();
  await replay().getByText('not reviewed yet').waitFor();
  await replay()
    .getByText(/^Bar scale ±\d+\.\d+ nats\/token; right = helped$/)
    .waitFor();
  await pictures('credit', allThemes);
  await narrowPicture('credit');
});

test('tokens are shaded on demand, with their figures in a table', async () => {
  const shades = replay().getByRole('button', { name: 'shade tokens' });
  await expect.poll(() => shades.getAttribute('aria-pressed')).toBe('false');
  await shades.click();
  const tokens = replay().getByRole('group', { name: 'Tokens of turn 1' });
  await tokens.waitFor();
  await replay().getByText('token more likely under the critic than under its base model').waitFor();
  await turn(1).getByText('Show values').click();
  await turn(1)
    .getByRole('row', { name: /^\d+ \S.* [+−]\d+\.\d+$/ })
    .first()
    .waitFor();
  await pictures('credit-tokens', allThemes);
  await shades.click();
  await tokens.waitFor({ state: 'detached' });
});

test('a person disagrees, after it was asked under which name that is logged', async () => {
  await turn(1).hover();
  await verdict(1, false).click();
  await agree();
  await replay().getByText('people agree in 0 of 1 turn with a verdict (0 %, 0–79)').waitFor();
  await expect.poll(() => verdict(1, false).getAttribute('aria-pressed')).toBe('true');
  await expect.poll(verdicts).toMatchObject([{ turn: 1, agrees: false }]);
});

test('with the keyboard another one, and it is taken back', async () => {
  await verdict(2, true).press('Enter');
  await replay().getByText('people agree in 1 of 2 turns with a verdict (50 %, 9–91)').waitFor();
  await workbench.screenshot('credit-judged');
  await expectAccessible(replay());
  await verdict(2, true).press('Enter');
  await replay().getByText('people agree in 0 of 1 turn with a verdict (0 %, 0–79)').waitFor();
  await expect.poll(() => verdict(2, true).getAttribute('aria-pressed')).toBe('false');
});

test('after a reload all of it is there at once', async () => {
  await workbench.kept(/Parcel surcharge: replay.*episodes\W/s);
  await workbench.reload();
  await bars().first().waitFor();
  await expect.poll(() => verdict(1, false).getAttribute('aria-pressed')).toBe('true');
  await replay().getByText('people agree in 0 of 1 turn with a verdict (0 %, 0–79)').waitFor();
});

test('another dialogue is scored with the critic that was used last; two stand on one scale', async () => {
  const score = replay().getByRole('button', { name: 'score with it' });
  await openRow(row(/^Parcel surcharge, .*guesses/), score);
  await score.click();
  await bars().first().waitFor();
  await select(row(/^Parcel surcharge, .*asks-first/));
  const guess = row(/^Parcel surcharge, .*guesses/);
  await alsoSelect(guess);
  await chooseInMenu(
    guess,
    'Compare Selected',
    workbench.page.getByRole('tab', { name: /Parcel surcharge: two dialogues/ }),
  );
  await workbench.runCommand('View: Close Other Editors in Group');
  for (const name of ['First dialogue', 'Second dialogue']) {
    const dialogue = replay().getByRole('region', { name });
    await dialogue
      .getByRole('img', { name: /^(Helped|Hurt): / })
      .first()
      .waitFor();
  }
  await pictures('credit-compare', ['light', 'dark']);
  await narrowPicture('credit-compare');
  await workbench.closeAllEditors();
});

test('the critics of loops and scoreboards are offered, too, with how far people agree with each', async () => {
  await leaveCritic(
    'loops/starter-world-quick/runs/20261122-110000-aaaa',
    { name: 'loop-1f2e3d' },
    { about: { length_normalisation: false }, withGraphs: false },
  );
  await leaveCritic('scoreboards/quick/runs/20261122-120000-bbbb', { name: '4c5b6a' });
  const attempt = path.join(workspace, '.tandem', 'scoreboards', 'quick', 'attempts', 'sweet-rl');
  await mkdir(attempt, { recursive: true });
  const cell = { method: 'sweet-rl', setting: 'lr 1e-3', seed: 2, split: 'test', fields: {}, key: '7d' };
  const done = { state: 'done', begun: '2026-11-22T12:00:00.000Z', run: '20261122-120000-bbbb' };
  await writeFile(path.join(attempt, 'attempt.json'), JSON.stringify({ ...cell, ...done }));
  await openRow(row(/^Course mark, .*asks-first/), replay().getByRole('heading', { name: 'Course mark' }));
  await replay().getByRole('button', { name: 'change…' }).click();
  await offered(
    /first try.*people agree in 0 of 1 turn with a verdict \(0 %, 0–79\).*SWEET-RL on tiny/,
  ).waitFor();
  await offered(/starter-world-quick.*not reviewed yet.*SWEET-RL on tiny/).waitFor();
  // A copy of the critic of the run is the same critic.
  await offered(
    /sweet-rl, lr 1e-3, seed 2.*people agree in 0 of 1 turn with a verdict.*quick · SWEET-RL/,
  ).waitFor();
  await workbench.pictures('credit-choose');
  await workbench.quickInput.dismiss();
  await quickInput().waitFor({ state: 'hidden' });
});

test('a critic without graphs is scored with by the trainer, which can be cancelled', async () => {
  await writeFile(hold, '');
  await replay().getByRole('button', { name: 'change…' }).click();
  await workbench.quickInput.pick('starter-world-quick');
  const told = await workbench.notification(/starter-world-quick scores the dialogue.*by the trainer/);
  // The file is there a moment before the id is in it; the poll ignores that error, too.
  await expect.poll(() => readFile(scoring, 'utf8')).toMatch(/^\d+\n$/);
  const trainer = Number(await readFile(scoring, 'utf8'));
  await workbench.screenshot('credit-by-trainer');
  await told.hover();
  await told.getByRole('button', { name: 'Cancel' }).click();
  await told.waitFor({ state: 'detached' });
  await expect.poll(() => isRunning(trainer)).toBe(false);
  await replay().getByText('critic: starter-world-quick').waitFor();
  await replay().getByRole('button', { name: 'score with it' }).waitFor();
  await expect.poll(() => bars('nats').count()).toBe(0);
});

test('the trainer scores', async () => {
  await rm(hold);
  await replay().getByRole('button', { name: 'score with it' }).click();
  await bars('nats').first().waitFor();
  await replay().getByText('not reviewed yet').waitFor();
  await replay().getByRole('button', { name: 'shade tokens' }).click();
  await replay().getByRole('group', { name: 'Tokens of turn 1' }).waitFor();
  await expectAccessible(replay());
});

test('critics are rows of the Models view: how well each does, which one the replays show, and its run', async () => {
  const { page } = workbench;
  const models = page.getByRole('tree', { name: 'Models' });
  const listed = (name: RegExp): Locator => models.getByRole('treeitem', { name });
  await workbench.openViews('Models');
  await openRow(
    listed(/^Critics/),
    listed(/^starter-world-quick, critic, shown in replays, not reviewed yet/),
  );
  const first = listed(
    /^first try, critic, held-out pair accuracy 78 %, untrained 55 %, people agree in 0 of 1 turn with a verdict/,
  );
  await first.hover();
  await workbench.pictures('credit-models');
  await chooseInMenu(first, 'Show Credit in Replays', listed(/^first try, critic, shown in replays/));
  await replay().getByText('critic: first try').waitFor();
  await openRow(listed(/^first try/), page.getByRole('tab', { name: 'first try' }));
});

test('in a workspace that is not trusted what is known is shown, and why nothing more is found out', async () => {
  await workbench.close();
  await start({ isRestricted: true });
  await openCredit(/^Course mark, .*asks-first/);
  await workbench.quickInput.pick('starter-world-quick');
  await bars('nats').first().waitFor();
  await workbench.screenshot('credit-restricted-known');
  await openRow(
    row(/^Parcel surcharge, .*asks-first/),
    replay().getByText('Critics do not run in a workspace that is not trusted.', { exact: false }),
  );
  await expect.poll(() => replay().getByRole('button', { name: 'score with it' }).count()).toBe(0);
  await expectAccessible(replay());
  await workbench.screenshot('credit-restricted');
  await openRow(row(/^Course mark, .*asks-first/), bars('nats').first());
  await verdict(1, true).press('Enter');
  // A person's verdict starts no process.
  await agree();
  await replay().getByRole('button', { name: 'Agree with the critic', exact: true, pressed: true }).waitFor();
  const manage = replay().getByRole('button', { name: 'Manage Workspace Trust' });
  await openRow(row(/^Parcel surcharge, .*asks-first/), manage);
  await manage.click();
  await workbench.page.getByText('You are in Restricted Mode').first().waitFor();
});
