import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { bareEnvironment, pytestWheels } from '../fixtures/pytestWheels';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { chooseInMenu } from './rows';
import { insisting } from './retries';
import {
  limitFact,
  lineOf,
  openFile,
  openFunction,
  quickInputOf,
  selectFunction,
  source,
  startOnOwnCode,
  tests,
  type OwnCode,
} from './ownCode';

let own: OwnCode;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const composer = (): Locator => session().getByRole('textbox', { name: 'Your reply to the agent' });
const tab = (): Locator => workbench.page.locator('.tab', { hasText: /^parcel_price$/ });
const change = (): Locator => workbench.page.locator('.tab', { hasText: 'shop.py: file ↔ answer' });

let wheels: string;

beforeAll(async () => {
  wheels = await mkdtemp(path.join(os.tmpdir(), 'tandem-wheels-'));
  own = await startOnOwnCode(await pytestWheels(wheels));
  ({ workbench } = own);
});
afterAll(async () => {
  await own.close();
  await rm(wheels, { recursive: true, force: true });
});

/** Texts of the questions about a function. */
const questions = {
  wish: 'What should it do? A vague description will do',
  tests: 'Tests of your own, separated by semicolons',
  request: 'What everyone sees, with the signature behind it',
  topic: 'What the fact is about',
  answers: 'What the simulator says, in full sentences',
  keywords: 'Words that a question about it',
} as const;

interface Outcome {
  readonly outcome: string;
  readonly survived?: number;
  readonly milliseconds?: number;
}

/** Returns the logged outcomes of answers in order. */
async function outcomes(): Promise<Outcome[]> {
  const folder = path.join(own.workspace, '.tandem', 'log');
  const texts = await Promise.all(
    (await readdir(folder)).map((name) => readFile(path.join(folder, name), 'utf8')),
  );
  return texts
    .flatMap((text) => text.trim().split('\n'))
    .map((text) => JSON.parse(text) as { event: string; at: string } & Outcome)
    .filter(({ event }) => event === 'outcome')
    .sort((one, other) => one.at.localeCompare(other.at));
}

test('collaborates on a function of their own, from the lens above it or the editor’s menu', async () => {
  await openFile(workbench, 'shop.py:1');
  const lens = workbench.page.locator('.codelens-decoration a', { hasText: 'Collaborate with the agent…' });
  await lens.waitFor();
  await workbench.pictures('own-lens');
  const offered = (): Promise<void> =>
    expect
      .poll(() => quickInputOf(workbench).inputValue())
      .toBe('I need a Python function: The price of a parcel.');
  await lens.click();
  await offered();
  await quickInputOf(workbench).press('Escape');
  await quickInputOf(workbench).waitFor({ state: 'hidden' });
  await openFunction(workbench);
  await chooseInMenu(lineOf(workbench, 'def parcel_price'), 'Collaborate on This Function…');
  await offered();
  await workbench.quickInput.answer(questions.wish);
  await session().getByText('You know what the function should do').waitFor();
  // Before it has begun, only the page knows of it.
  await workbench.kept(/place\W+file/);
  await workbench.reload();
  await tab().waitFor();
  await session().getByText('I need a Python function: The price of a parcel.').waitFor();
  await accessiblePictures(workbench, session(), 'own-restored');
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await session().getByText('From how many kilos is a parcel heavy?').waitFor();
  // A simulator does not know the developer's intentions, so none is offered.
  await expect
    .poll(() =>
      session()
        .getByRole('button', { name: /simulator|Suggest/i })
        .count(),
    )
    .toBe(0);
});

test('rejects the answer, which leaves the file as it is and is logged', async () => {
  const { page } = workbench;
  await composer().fill('Above 20.');
  await composer().press('Enter');
  await change().waitFor();
  await page.locator('.monaco-diff-editor').first().waitFor();
  await page.locator('.statusbar-item', { hasText: 'Tandem: answered' }).waitFor();
  await workbench.pictures('own-change');
  const asked = await workbench.notification(/Insert the answer into shop\.py/);
  await asked.getByRole('button', { name: 'Run Tests' }).click();
  await workbench.notification(/Tests passed: 0 of 2 before, 2 of 2 with the answer\./);
  await workbench.clearNotifications();
  await pressInChange(/^Reject Answer/);
  await change().waitFor({ state: 'detached' });
  await expect.poll(outcomes).toMatchObject([{ outcome: 'rejected' }]);
  await session().getByText('Rejected. Your file was left as it is.').waitFor();
  expect(await readFile(own.file, 'utf8')).toBe(source);
});

const buttonOfChange = (name: RegExp): Locator => workbench.page.getByRole('button', { name }).first();

/** Presses a button above the change. What was pressed before may take the focus late, and then the button is gone. */
async function pressInChange(name: RegExp): Promise<void> {
  await insisting(async (options) => {
    await lookAtChange();
    await buttonOfChange(name).click(options);
  });
}

/**
 * Focuses the change: only an active group shows buttons, and an earlier click may take the focus late. The buttons
 * push the tab aside when they appear, so a click into the middle of the tab could hit its close button.
 */
async function lookAtChange(): Promise<void> {
  await change().click({ position: { x: 20, y: 15 } });
}

/** A test with a weight of zero, which the answer does not handle. */
const free = '\n\ndef test_free():\n    assert parcel_price(0) == 0\n';

test('runs the tests before it accepts, and sees that the answer breaks one', async () => {
  const { page } = workbench;
  const testFile = path.join(own.workspace, 'test_shop.py');
  const working = 'return 0 if weight_kg == 0 else 9.5 if weight_kg > LIMIT else 5';
  await writeFile(testFile, tests + free);
  await writeFile(own.file, source.replace('raise NotImplementedError', working));
  // The editor may have read the file while it was empty; it reads it again.
  await lineOf(workbench, 'return 0 if').waitFor();
  await session().getByRole('button', { name: 'Review it again' }).click();
  await pressInChange(/^Run Tests with Answer/);
  const breaks = /Tests passed: 3 of 3 before, 2 of 3 with the answer\. It breaks test_free\./;
  const told = await workbench.notification(breaks);
  await told.getByRole('button', { name: 'Accept Anyway' }).waitFor();
  await page
    .getByRole('button', { name: /^Accept Answer Anyway/ })
    .first()
    .waitFor();
  await workbench.pictures('own-tests-broken');
  await told.getByRole('button', { name: 'Show Failure' }).click();
  await page.locator('.tab.active', { hasText: 'test_shop.py' }).waitFor();
  await lineOf(workbench, 'parcel_price(0) == 0').waitFor();
  await page.locator('.part.panel').getByText('1 failed, 2 passed').first().waitFor();
  await workbench.runCommand('View: Hide Panel');
  await workbench.clearNotifications();
  // The test results were for the file before the change.
  await writeFile(testFile, tests);
  await writeFile(own.file, source);
  await insisting(async (options) => {
    await lookAtChange();
    await buttonOfChange(/^Accept Answer/).waitFor(options);
  });
});

test('looks at it again and accepts it, which can be undone', async () => {
  const { page } = workbench;
  await session().getByRole('button', { name: 'Review it again' }).click();
  await pressInChange(/^Accept Answer/);
  await change().waitFor({ state: 'detached' });
  await lineOf(workbench, 'return 9.5 if').waitFor();
  await expect.poll(outcomes).toMatchObject([{ outcome: 'rejected' }, { outcome: 'accepted' }]);
  await lineOf(workbench, 'return 9.5 if').click();
  await page.keyboard.press('Control+Z');
  await lineOf(workbench, 'raise NotImplementedError').waitFor();
  const inserted = session().getByText('Inserted into shop.py.');
  await inserted.waitFor({ state: 'detached' });
  await session().getByRole('button', { name: 'Review the change' }).waitFor();
  await page.keyboard.press('Control+Y');
  await lineOf(workbench, 'return 9.5 if').waitFor();
  await inserted.waitFor();
  await workbench.save();
  // The docstring stays, although the answer has none.
  const accepted = source.replace('raise NotImplementedError', 'return 9.5 if weight_kg > 20 else 5');
  await expect.poll(() => readFile(own.file, 'utf8')).toBe(accepted);
  await workbench.clearNotifications();
});

test('edits what was accepted, and how much of it survives is logged, over a reload', async () => {
  const { page } = workbench;
  await lineOf(workbench, 'return 9.5 if').click();
  await page.keyboard.press('End');
  await page.keyboard.press('Shift+Home');
  await page.keyboard.insertText('return 9.5 if weight_kg > LIMIT else 5');
  await workbench.save();
  await expect.poll(() => readFile(own.file, 'utf8')).toContain('weight_kg > LIMIT');
  // The workbench stores Tandem's state together with the editors.
  await openFile(workbench, 'test_shop.py');
  await workbench.kept(/test_shop\.py/);
  await workbench.reload();
  await tab().waitFor();
  await session().getByText('Inserted into shop.py.').waitFor();
  await own.configure({ 'tandem.collaboration.survivalMinutes': 0 });
  await expect
    .poll(async () => (await outcomes()).at(-1))
    .toMatchObject({ outcome: 'edited', survived: 0.5 });
  expect((await outcomes()).at(-1)!.milliseconds).toBeGreaterThan(1000);
  expect((await outcomes()).map(({ outcome }) => outcome)).toEqual(['rejected', 'accepted', 'edited']);
});

test('installs pytest where it is missing, after another interpreter was looked for, and runs the tests', async () => {
  const { page } = workbench;
  await bareEnvironment(path.join(own.workspace, 'env'));
  await own.configure({ 'python.defaultInterpreterPath': '${workspaceFolder}/env/bin/python' });
  await openFunction(workbench);
  const runs = async (): Promise<Locator> => {
    await workbench.clearNotifications();
    await chooseInMenu(lineOf(workbench, 'def parcel_price'), 'Run Tests of This Function');
    return workbench.notification(/need pytest, which env\/bin\/python does not have/);
  };
  const told = await runs();
  await workbench.pictures('own-pytest-missing');
  await told.getByRole('button', { name: 'Choose Interpreter…' }).click();
  await workbench.quickInput.listed('env/bin/python').waitFor();
  await workbench.pictures('own-interpreters');
  await quickInputOf(workbench).press('Escape');
  await (await runs()).getByRole('button', { name: 'Install pytest…' }).click();
  const question = page.locator('.monaco-dialog-box', { hasText: 'env/bin/python -m pip install pytest' });
  await question.waitFor();
  await workbench.pictures('own-pytest-install');
  await question.getByRole('button', { name: 'Install', exact: true }).click();
  await workbench.notification(/Tests passed: 2 of 2\./);
});

test('makes a task of the function that is selected, with the values that its tests want', async () => {
  await workbench.openViews('Tasks', 'Models');
  await own.configure({ 'tandem.simulator': `openai:tiny@${own.server.url}` });
  await workbench.closeAllEditors();
  await openFunction(workbench);
  await selectFunction(workbench, 2);
  await chooseInMenu(lineOf(workbench, 'def parcel_price'), 'Create Task from Function…');
  await workbench.quickInput.answer('parcel_price(21) == 9.5');
  await workbench.quickInput.answer(questions.tests, 'parcel_price(20); parcel_price(20.5) == 9.5');
  await workbench.quickInput.answer(questions.request, 'I need the price of a parcel.');
  const row = (text: string): Locator => workbench.quickInput.listed(text);
  await workbench.quickInput.pick('Draft by Mine');
  await row('weight limit').waitFor();
  await workbench.pictures('own-task-facts');
  await workbench.quickInput.pick('weight limit');
  await workbench.quickInput.answer(questions.topic, 'heavy parcels');
  await workbench.quickInput.answer(questions.answers);
  await workbench.quickInput.answer(questions.keywords);
  await row('heavy parcels').waitFor();
  await workbench.quickInput.pick('Done');
  // The input is validated first; anything that opens before cancels it.
  await quickInputOf(workbench).waitFor({ state: 'hidden' });
  const told = await workbench.notification(/is a task of private-tasks\.jsonl now, with 4 hidden tests/);
  await told.getByRole('button', { name: 'Show Tasks' }).click();
  const made = JSON.parse(await readFile(path.join(own.workspace, 'private-tasks.jsonl'), 'utf8')) as {
    facts: readonly { topic: string }[];
  };
  expect(made.facts[0]).toEqual({ ...limitFact, topic: 'heavy parcels' });
});
