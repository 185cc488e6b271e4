import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { collectLog, tinyCritic } from '../fixtures/trainer';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench, type WorkbenchOptions } from './launch';
import { alsoSelect, chooseInMenu, openRow, select } from './rows';
import { allThemes, type Theme } from './themes';

// A critic with random weights, exported by the real trainer, is in the folder where runs put theirs.

let workspace: string;
let trained: string;
/** Resolves to the critic's folder once it is exported, which takes a while. */
let critic: Promise<string>;
let workbench: WorkbenchDriver;

const replay = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Dialogues' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const quickInput = (): Locator => workbench.quickInput.widget;

const turn = (number: number): Locator =>
  replay().getByRole('group', { name: `Turn ${number}`, exact: true });
const bars = (): Locator =>
  replay().getByRole('img', { name: /^(Helped|Hurt): [+−]\d+\.\d+ nats\/token; untrained / });
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

/** Creates a run with a critic in the data folder. */
async function leaveCritic(id: string, name: string): Promise<void> {
  const folder = path.join(workspace, '.tandem', 'runs', id);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'run.json'), JSON.stringify({ name, model: { base: 'tiny' } }));
  await cp(await critic, path.join(folder, 'critic'), { recursive: true });
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
  await start({});
});

async function start(options: Partial<WorkbenchOptions>): Promise<void> {
  workbench = await startWorkbench({ extension: root, workspace, ...options });
  await workbench.showTandem();
  await tree().getByRole('treeitem').first().waitFor();
  await workbench.openViews('Dialogues');
}

afterAll(async () => {
  await workbench.close();
  await Promise.allSettled([critic]);
  await rm(workspace, { recursive: true, force: true });
  await rm(trained, { recursive: true, force: true });
});

beforeEach(() => workbench.clearNotifications());

test('without a critic a run is offered, which trains one, and credit that needs none', async () => {
  await openCredit(/^Parcel surcharge, .*asks-first/);
  for (const item of [
    /New Run….*a SWEET-RL run trains one/,
    /answer-now by starter/,
    /rollouts by starter and rules.*in place of a person/,
  ])
    await offered(item).waitFor();
  await workbench.page.keyboard.press('Escape');
});

test('the critic of a run is chosen and its credit stands at the left of each turn', async () => {
  await leaveCritic('20261122-100000-abcd', 'first try');
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

test('answers that the agent is forced to give are credit without a critic', async () => {
  await openRow(row(/^Parcel surcharge, .*asks-first/), replay().getByText('critic: first try'));
  await replay().getByRole('button', { name: 'change…' }).click();
  await workbench.quickInput.pick('answer-now by starter');
  await replay().getByText('credit: answer-now by starter').waitFor();
  await replay()
    .getByText(/^Bar scale ±\d+\.\d+ reward; right = helped$|^no turn changed what the model makes/)
    .waitFor();
  await expect
    .poll(() =>
      turn(1)
        .getByRole('img', { name: /reward$/ })
        .count(),
    )
    .toBe(1);
  await pictures('credit-answer-now', ['light', 'dark']);
  await replay().getByRole('button', { name: 'change…' }).click();
  await workbench.quickInput.pick('first try');
  await replay().getByText('critic: first try').waitFor();
  await workbench.closeAllEditors();
});

test('a critic is a row of the Models view, which leads to its run', async () => {
  const { page } = workbench;
  const listed = (name: RegExp): Locator =>
    page.getByRole('tree', { name: 'Models' }).getByRole('treeitem', { name });
  await workbench.openViews('Models');
  const first = listed(
    /^first try, critic, shown in replays, held-out pair accuracy 78 %, untrained 55 %, people agree in 0 of 1 turn with a verdict/,
  );
  await openRow(listed(/^Critics/), first);
  await first.hover();
  await workbench.pictures('credit-models');
  await openRow(first, page.getByRole('tab', { name: 'first try' }));
});

test('in a workspace that is not trusted what is known is shown, and why nothing more is found out', async () => {
  await workbench.close();
  await start({ isRestricted: true });
  await openCredit(/^Parcel surcharge, .*asks-first/);
  await workbench.quickInput.pick('first try');
  await bars().first().waitFor();
  await verdict(2, true).press('Enter');
  // A person's verdict starts no process.
  await agree();
  await replay().getByRole('button', { name: 'Agree with the critic', exact: true, pressed: true }).waitFor();
  await openRow(
    row(/^Course mark, .*asks-first/),
    replay().getByText('Critics do not run in a workspace that is not trusted.', { exact: false }),
  );
  await expect.poll(() => replay().getByRole('button', { name: 'score with it' }).count()).toBe(0);
  await expectAccessible(replay());
  await workbench.screenshot('credit-restricted');
  await replay().getByRole('button', { name: 'Manage Workspace Trust' }).click();
  await workbench.page.getByText('You are in Restricted Mode').first().waitFor();
});
