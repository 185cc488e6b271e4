import { access, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { loadTasks } from '../../src/core/task/pack';
import type { LogEvent } from '../../src/core/trajectory/event';
import { startChatServer, type ChatRequest, type ChatServer } from '../fixtures/chat-server';
import { pauseBeforeEnd } from '../fixtures/chat-server-replies';
import { answers, asks, starterPack } from '../fixtures/dialogue';
import { expectAccessible } from '../workbench/accessibility';
import type { WorkbenchDriver } from '../workbench/driver';
import { startWorkbench } from '../workbench/launch';
import { openRow, pressInRow } from '../workbench/rows';

// A developer plays two tasks with an agent on a chat server, and exports the dialogues.

/** Wrong for parcels of more than 20 kg in two zones, so that some tests fail. */
const WRONG = `def parcel_price(weight_kg, zone):
    base = {1: 5, 2: 8, 3: 12}.get(zone, -1)
    return base + 4.5 if weight_kg > 20 and zone == 1 else base`;

const QUESTIONS = [
  'At how many kilograms does a parcel count as **heavy**?',
  'How big is the supplement?',
  'What should come out for a zone that does not exist?',
  'Does the supplement depend on the zone?',
  'Is the price in euros or in cents?',
  'How shall I round?\n\n```python\nround(1.5)\n```',
  'May the weight be zero?',
  'Is there anything else that I should know?',
];

const HEAVY =
  'A parcel is heavy above 20 kilograms.\nAt exactly 20 kilograms it still pays the normal price.';
const SUPPLEMENT = 'It is 4.50 euros.\nThat is for the whole parcel, not for each kilogram.';
const GIVES_AWAY = 'Use {1: 5, 2: 8, 3: 12}.get(zone) and return base + 4.5 if weight_kg > 20 else base';
const ZONES = 'Only 1, 2 and 3 exist.\n\nIt is the same supplement in all of them.';
const REST = [
  'In euros, as our shop shows them.\nCents stand behind the point.',
  'Please do not round at all:\n- no whole euros,\n- no two decimals.\nOur shop does that itself.',
  'It may.\nAn empty parcel pays the price of its zone.',
  'No, that was all.\nThank you for asking so thoroughly!',
];

let workspace: string;
let agent: ChatServer;
let mayEnd: Promise<unknown> = Promise.resolve();
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const composer = (): Locator => view().getByRole('textbox', { name: 'Your reply to the agent' });
const press = (key: string): Promise<void> => workbench.page.keyboard.press(key);
const tab = (name: string | RegExp): Locator => workbench.page.getByRole('tab', { name });
const tasks = (): Locator => workbench.page.getByRole('tree', { name: 'Tasks' });
const trajectories = (): Locator => workbench.page.getByRole('tree', { name: 'Dialogues' });
const trajectory = (name: RegExp): Locator => trajectories().getByRole('treeitem', { name }).first();

/** Types into the composer key by key; Shift+Enter breaks a line. */
async function type(text: string): Promise<void> {
  await view().locator('#reply:focus').waitFor();
  for (const [index, line] of text.split('\n').entries()) {
    if (index > 0) await press('Shift+Enter');
    await workbench.page.keyboard.type(line);
  }
  await expect.poll(() => composer().inputValue()).toBe(text);
}

/** Sends a reply, and waits for the question after it. @param turn of the reply, from 1 */
async function reply(turn: number, text: string): Promise<void> {
  await type(text);
  await press('Enter');
  await view()
    .getByText(`turn ${turn + 1} of 10`)
    .waitFor();
  await composer().waitFor();
}

/** Asks eight questions about the first task before it answers, and answers the others rightly at once. */
async function turnOf({ body }: ChatRequest): Promise<string> {
  const prompt = body.messages.map(({ content }) => content).join('\n');
  if (!prompt.includes('def parcel_price(')) {
    const pack = await loadTasks(starterPack);
    return answers(pack.tasks.find(({ description }) => prompt.includes(description))!.reference);
  }
  const question = QUESTIONS[body.messages.filter(({ role }) => role === 'assistant').length];
  return question === undefined ? answers(WRONG) : asks(question);
}

async function loggedEvents(): Promise<LogEvent[]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as LogEvent);
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-play-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  // The tree draws only the rows that fit.
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  agent = await startChatServer({ reply: async (request) => pauseBeforeEnd(await turnOf(request), mayEnd) });
  const settings = { 'tandem.agent': `openai:careful@${agent.url}`, 'tandem.simulator': 'rules' };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await agent.close();
  await rm(workspace, { recursive: true, force: true });
});

test('activates, and lists the tasks of the folder', async () => {
  await workbench.showTandem();
  await tasks()
    .getByRole('treeitem', { name: /^written-by-hand, 32 tasks/ })
    .waitFor();
  await tasks()
    .getByRole('treeitem', { name: /^Parcel surcharge, new$/ })
    .waitFor();
});

test('asks for consent before the first task', async () => {
  const heading = view().getByRole('heading', { name: 'Parcel surcharge' });
  await openRow(tasks().getByRole('treeitem', { name: /^Parcel surcharge/ }), heading);
  await tab(/parcel-surcharge\.reference\.py/).waitFor();
  await view().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await view().getByText('May be exported', { exact: true }).click();
  expect(agent.requests).toEqual([]);
  await workbench.screenshot('smoke-consent');
  await expectAccessible(view());
  await view().getByRole('button', { name: 'Agree and start' }).click();
  await view().getByText(QUESTIONS[0]!.replaceAll('*', '')).waitFor();
});

test('sends a typed reply, stops the agent with Escape and asks again', async () => {
  const never = Promise.withResolvers<unknown>();
  mayEnd = never.promise;
  await type(HEAVY);
  await press('Enter');
  await view().locator('tandem-stream').getByText('How big is the supplement').waitFor();
  await press('Escape');
  await view().getByText('Stopped. This partial message is not in the log.').waitFor();
  expect(await agent.requests.at(-1)!.ended).toBe('hung up');
  never.resolve(undefined);
  mayEnd = Promise.resolve();
  await view().getByRole('button', { name: 'Try again' }).press('Enter');
  await view().getByText('turn 2 of 10').waitFor();
  await composer().waitFor();
  await reply(2, SUPPLEMENT);
});

test('suggests a reply, which is edited before it is sent', async () => {
  await view().locator('#reply:focus').waitFor();
  await press('Alt+s');
  await view().getByText('Drafted by Simulator (rules)').waitFor();
  await composer().press('End');
  await workbench.page.keyboard.type(' Sure.');
  await workbench.screenshot('smoke-suggestion');
  await press('Enter');
  await view().getByText('edited from a draft by Simulator (rules)').waitFor();
  await view().getByText('turn 4 of 10').waitFor();
});

test('warns before a reply gives the reference away', async () => {
  await type(GIVES_AWAY);
  await press('Enter');
  await view().getByText('Not sent yet: this gives away').waitFor();
  await workbench.screenshot('smoke-leak-warning');
  // Enter edits the reply; the warning alone sends nothing.
  await press('Enter');
  await view().getByText('Not sent yet').waitFor({ state: 'detached' });
  await expect.poll(() => composer().inputValue()).toBe(GIVES_AWAY);
  // The editor answers Ctrl+A late, and would select what has been typed by then.
  await composer().selectText();
  await press('Delete');
  await expect.poll(() => composer().inputValue()).toBe('');
  await reply(4, ZONES);
});

test('plays a long dialogue of multi-line replies', async () => {
  for (const [index, text] of REST.entries()) {
    if (index < REST.length - 1) await reply(index + 5, text);
  }
  expect(await view().getByText('no two decimals.').innerText()).toContain('\n- no whole euros,\n');
  await workbench.screenshot('smoke-dialogue');
  await type(REST.at(-1)!);
  await press('Enter');
});

test('grades the answer, and compares it with the reference', async () => {
  await view()
    .getByRole('heading', { name: /^[1-9] of 10 tests passed/ })
    .waitFor();
  await workbench.screenshot('smoke-graded');
  await expectAccessible(view());
  await view().getByRole('button', { name: 'Compare with the reference' }).click();
  await tab(/Parcel surcharge: answer ↔ reference/).waitFor();
  await workbench.page.locator('.monaco-diff-editor').first().waitFor();
  const events = await loggedEvents();
  const kinds = events.map(({ event }) => event);
  expect(kinds.indexOf('consent')).toBeLessThan(kinds.indexOf('episode-started'));
  expect(kinds.filter((kind) => kind === 'agent-turn')).toHaveLength(9);
  expect(kinds).toContain('grade');
  const replies = events.filter((event) => event.event === 'reply');
  const [suggested] = replies.splice(2, 1);
  expect(suggested).toMatchObject({ author: 'developer-edited-suggestion', suggestedBy: 'rules' });
  expect(suggested!.text).toMatch(/ Sure\.$/);
  expect(replies.map(({ text }) => text)).toEqual([HEAVY, SUPPLEMENT, ZONES, ...REST]);
});

test('filters the trajectories, and replays one', async () => {
  await tab(/^Parcel surcharge(,|$)/).click();
  await view().getByRole('button', { name: 'Next task' }).press('Enter');
  await view()
    .getByRole('button', { name: /\bstart\b/i })
    .press('Enter');
  await view()
    .getByRole('heading', { name: /^10 of 10 tests passed/ })
    .waitFor();
  await workbench.closeAllEditors();
  await workbench.openViews('Dialogues');
  await trajectory(/, 10\/10 tests, /).waitFor();
  await workbench.runCommand('Tandem: Filter Dialogues…');
  await workbench.quickInput.pick('Outcome');
  await workbench.quickInput.pick('failed a test');
  await workbench.quickInput.widget.getByText('Filter Dialogues: 1 dialogue').waitFor();
  await workbench.quickInput.dismiss();
  const filter = trajectory(/^Filter: failed a test, 1 of 2 dialogues$/);
  await filter.waitFor();
  await expect.poll(() => trajectory(/, 10\/10 tests, /).count()).toBe(0);
  await openRow(
    trajectory(/^Parcel surcharge, /),
    view().getByRole('heading', { name: 'Parcel surcharge', level: 1 }),
  );
  await view()
    .getByText(/^suggested by simulator, edited by developer/)
    .waitFor();
  await view().getByText('no two decimals.').waitFor();
  await workbench.screenshot('smoke-replay');
  await expectAccessible(view());
  await pressInRow(filter, 'Clear Dialogue Filter', trajectory(/, 10\/10 tests, /));
});

test('previews an export before a file is written', async () => {
  const file = path.join(workspace, 'rows.jsonl');
  await workbench.closeAllEditors();
  await workbench.runCommand('Tandem: Export Dialogues…');
  await workbench.quickInput.pick('Fine-tuning rows');
  await workbench.quickInput.pickSeveral('Include leaked dialogues');
  await tab(/export-preview-1\.md/).waitFor();
  await view().getByText('Export preview: nothing is written yet').waitFor();
  await expect(access(file)).rejects.toThrow('ENOENT');
  await workbench.screenshot('smoke-export-preview');
  const ready = await workbench.notification(/2 rows are ready/);
  await ready.getByRole('button', { name: 'Save…', exact: true }).click();
  await workbench.quickInput.chooseFile(file);
  await workbench.notification(/2 rows of 2 dialogues are in rows\.jsonl/);
  const rows = (await readFile(file, 'utf8')).trim().split('\n');
  expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual([
    expect.objectContaining({ messages: expect.any(Array) as unknown }),
    expect.objectContaining({ messages: expect.any(Array) as unknown }),
  ]);
});
