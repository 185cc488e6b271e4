import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { collectLog, tinyCritic } from '../fixtures/trainer';
import { violations } from './accessibility';
import { startWorkbench, type Theme, type WorkbenchDriver } from './driver';

// A critic of random weights that the real trainer exported, in the place where a run leaves its critic.

let workspace: string;
let trained: string;
let workbench: WorkbenchDriver;

const replay = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Trajectories' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const quickInput = (): Locator => workbench.page.locator('.quick-input-widget');
const section = (name: string): Locator => workbench.page.locator('.pane-header', { hasText: name });

const turn = (number: number): Locator =>
  replay().getByRole('group', { name: `Turn ${number}`, exact: true });
const bars = (): Locator =>
  replay().getByRole('img', { name: /^(Helped|Hurt): [+−]\d+\.\d+ nats per token; untrained / });
const verdict = (number: number, agrees: boolean): Locator =>
  turn(number).getByRole('button', {
    name: agrees ? 'Agree with the critic' : 'Disagree with the critic',
    exact: true,
  });

async function pick(text: string | RegExp): Promise<void> {
  await quickInput().locator('.quick-input-list-row', { hasText: text }).first().click();
}

async function pictures(name: string): Promise<void> {
  await workbench.runCommand('Notifications: Clear All Notifications');
  for (const theme of ['light', 'dark', 'hc-dark', 'hc-light'] satisfies Theme[]) {
    await workbench.setTheme(theme);
    await turn(1).first().hover();
    await workbench.screenshot(`${name}-${theme}`);
    expect(await violations(replay())).toEqual([]);
  }
  await workbench.setTheme('dark');
  await workbench.setSize(700, 800);
  await workbench.screenshot(`${name}-narrow`);
  expect(await violations(replay())).toEqual([]);
  await workbench.setSize(1280, 800);
}

/** What the log holds of verdicts, from the first. */
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
  await collectLog(path.join(workspace, '.tandem'), 3);
  await tinyCritic(trained);
  workbench = await startWorkbench({ extension: root, workspace });
  workbench.page.setDefaultTimeout(60_000);
  await workbench.activityBar('Tandem').click();
  await tree().getByRole('treeitem').first().waitFor();
  for (const other of ['Tasks', 'Models']) await section(other).click();
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
  await rm(trained, { recursive: true, force: true });
});

beforeEach(() => workbench.runCommand('Notifications: Clear All Notifications'));

test('without a critic one sentence says how to get one', async () => {
  await row(/^Parcel surcharge, .*asks-first/).click();
  await replay().getByRole('button', { name: 'see the credit of each turn…' }).click();
  await workbench.notification(
    /There is no critic in the runs of this workspace: a run of SWEET-RL trains one/,
  );
});

test('the critic of a run is chosen and its credit stands at the left of each turn', async () => {
  const run = path.join(workspace, '.tandem', 'runs', '20261122-100000-abcd');
  await mkdir(run, { recursive: true });
  await writeFile(path.join(run, 'run.json'), JSON.stringify({ name: 'first try', model: { base: 'tiny' } }));
  await cp(path.join(trained, 'critic'), path.join(run, 'critic'), { recursive: true });
  await replay().getByRole('button', { name: 'see the credit of each turn…' }).click();
  await quickInput().getByText('sweet-rl on tiny').waitFor();
  await workbench.screenshot('credit-choose');
  await pick('first try');
  await bars().first().waitFor();
  expect(await bars().count()).toBe(
    await replay()
      .getByRole('group', { name: /^Turn \d+$/ })
      .count(),
  );
  await replay().getByText('critic: first try').waitFor();
  await replay()
    .getByText(/^bars end at ±\d+\.\d+ nats per token; to the right a turn helped$/)
    .waitFor();
  await pictures('credit');
});

test('tokens are shaded on demand, with their figures in a table', async () => {
  const shades = replay().getByRole('button', { name: 'shade tokens' });
  expect(await shades.getAttribute('aria-pressed')).toBe('false');
  await shades.click();
  const tokens = replay().getByRole('group', { name: 'Tokens of turn 1' });
  await tokens.waitFor();
  await turn(1).getByText('in figures').click();
  await turn(1)
    .getByRole('row', { name: /^\d+ \S.* [+−]\d+\.\d+$/ })
    .first()
    .waitFor();
  await pictures('credit-tokens');
  await shades.click();
  await tokens.waitFor({ state: 'detached' });
});

test('a person disagrees, after it was asked under which name that is logged', async () => {
  await turn(1).hover();
  await verdict(1, false).click();
  const asked = await workbench.notification(/logged under a pseudonym/);
  await asked.getByRole('button', { name: 'Choose…' }).click();
  for (const step of ['(1/3)', '(2/3)', '(3/3)']) {
    await quickInput().getByText(step).waitFor();
    await workbench.page.keyboard.press('Enter');
  }
  await replay().getByText('people agree in 0 of 1 judged turn (0 %, 0–79)').waitFor();
  expect(await verdict(1, false).getAttribute('aria-pressed')).toBe('true');
  expect(await verdicts()).toMatchObject([{ turn: 1, agrees: false }]);
});

test('with the keyboard another one, and it is taken back', async () => {
  await verdict(2, true).focus();
  await workbench.page.keyboard.press('Enter');
  await replay().getByText('people agree in 1 of 2 judged turns (50 %, 9–91)').waitFor();
  await workbench.screenshot('credit-judged');
  expect(await violations(replay())).toEqual([]);
  await workbench.page.keyboard.press('Enter');
  await replay().getByText('people agree in 0 of 1 judged turn (0 %, 0–79)').waitFor();
  expect(await verdict(2, true).getAttribute('aria-pressed')).toBe('false');
});

test('after a reload all of it is there at once', async () => {
  // The workbench in a browser puts down every five seconds which editors are open, and not when it is left.
  await workbench.page.waitForTimeout(8000);
  await workbench.reload();
  await bars().first().waitFor();
  expect(await verdict(1, false).getAttribute('aria-pressed')).toBe('true');
  await replay().getByText('people agree in 0 of 1 judged turn (0 %, 0–79)').waitFor();
});

test('another dialogue is scored with the critic that was used last; two stand on one scale', async () => {
  await row(/^Parcel surcharge, .*guesses/).click();
  await replay().getByRole('button', { name: 'score with it' }).click();
  await bars().first().waitFor();
  await row(/^Parcel surcharge, .*asks-first/).click();
  const guess = row(/^Parcel surcharge, .*guesses/);
  await guess.click({ modifiers: ['ControlOrMeta'] });
  await workbench.chooseInMenu(guess, 'Compare Selected');
  await replay().getByRole('region', { name: 'Second dialogue' }).waitFor();
  await workbench.runCommand('View: Close Other Editors in Group');
  await bars().first().waitFor();
  await pictures('credit-compare');
});
