import { existsSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { accessiblePictures } from './accessibility';
import { ChatView, parking } from './chatView';
import type { WorkbenchDriver } from './driver';
import { lineOf, openFunction, selectFunction, startOnOwnCode, type OwnCode } from './ownCode';
import { chooseInMenu } from './rows';

let own: OwnCode;
let workbench: WorkbenchDriver;
let view: ChatView;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const chat = (): Locator => view.content;
const change = (): Locator => workbench.page.locator('.tab', { hasText: 'shop.py: file ↔ answer' });

beforeAll(async () => {
  own = await startOnOwnCode();
  ({ workbench } = own);
  view = new ChatView(workbench);
});
afterAll(() => own.close());

test('finds the starter model in the picker of the chat, and it answers', async () => {
  await own.configure({ 'tandem.agent': '' });
  await workbench.page.locator('.pane-header', { hasText: 'agent: none' }).waitFor();
  await workbench.clearNotifications();
  await workbench.closeAllEditors();
  await workbench.runCommand('Chat: Open Chat');
  await view.inPicker(async (list, options) => {
    await list.getByRole('option', { name: 'Other Models' }).waitFor(options);
    await workbench.screenshot('chat-picker');
  });
  await view.pickModel('starter');
  // Typed in full: the list that opens after the @ closes when the chat learns of a model meanwhile.
  await view.say(`@tandem ${parking}`);
  await view.asksOrAnswers.waitFor();
  await workbench.screenshot('chat-starter');
  expect(own.server.requests).toEqual([]);
});

test('asks @tandem about what is selected, and it asks back before it answers', async () => {
  await openFunction(workbench);
  await selectFunction(workbench, 3);
  await view.startAnew();
  await view.pickModel('Mine');
  await view.say('I need the price of a parcel.');
  await chat().getByText('From how many kilos is a parcel heavy?').waitFor();
  await expect.poll(() => chat().getByText('I do not know the limit').count()).toBe(0);
  await workbench.pictures('chat-asks');
  const told = own.server.requests[0]!.body.messages.map(({ content }) => content).join('\n');
  expect(told).toContain('From shop.py:\n\n```python\ndef parcel_price(weight_kg):');
  expect(told).not.toContain('print("end")');
  await view.say('Above 20.');
  await chat().getByRole('button', { name: 'Run Tests' }).waitFor();
  await chat().locator('.view-line', { hasText: 'return 9.5 if weight_kg > 20' }).first().waitFor();
  await workbench.pictures('chat-answers');
  const last = own.server.requests.at(-1)!.body.messages;
  expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  // The context of an earlier message is not sent again.
  expect(last.at(-1)!.content).toBe('Above 20.');
});

test('runs the answer against the tests of the workspace', async () => {
  await chat().getByRole('button', { name: 'Run Tests' }).click();
  await workbench.notification(/2 of 2 tests passed/);
  await workbench.screenshot('chat-tested');
  await workbench.clearNotifications();
});

test('sees the answer as a change of the file and rejects it', async () => {
  const { page } = workbench;
  await chat().getByRole('button', { name: 'Show as Change' }).click();
  await change().waitFor();
  await page.locator('.monaco-diff-editor').first().waitFor();
  await workbench.pictures('chat-change');
  const asked = await workbench.notification(/Insert the answer into shop\.py\?/);
  await asked.getByRole('button', { name: 'Reject' }).click();
  await change().waitFor({ state: 'detached' });
  // The chat is not logged.
  expect(existsSync(path.join(own.workspace, '.tandem', 'log'))).toBe(false);
});

test('inserts the answer where the selection is', async () => {
  const { page } = workbench;
  await openFunction(workbench);
  await selectFunction(workbench, 3);
  await chat().locator('.view-line', { hasText: 'return 9.5 if weight_kg > 20' }).first().hover();
  await chat()
    .getByRole('button', { name: /^Insert At Cursor/ })
    .click();
  // The chat gives the focus to the file a moment later.
  await lineOf(workbench, /weight_kg.>.20.else.5/).click();
  await page.keyboard.press('Control+Z');
  await lineOf(workbench, 'raise NotImplementedError').waitFor();
});

test('compares what a run made with its base, blindly', async () => {
  const { page } = workbench;
  const run = path.join(own.workspace, '.tandem', 'runs', '20260101-000000-done');
  await cp(path.join(root, 'dist', 'starter'), path.join(run, 'model'), { recursive: true });
  await writeFile(
    path.join(run, 'events.jsonl'),
    `${JSON.stringify({ version: 1, at: '2026-01-01T00:00:00Z', event: 'state', state: 'done' })}\n`,
  );
  const [task] = (
    await readFile(path.join(root, 'samples', 'workspace', 'starter-world.jsonl'), 'utf8')
  ).split('\n');
  await writeFile(path.join(own.workspace, 'garage.jsonl'), `${task}\n`);
  // The base is a hub model that the connected server serves.
  const configuration = { name: 'trained starter', method: 'sweet-rl', model: { base: 'tiny' } };
  await writeFile(path.join(run, 'run.json'), JSON.stringify(configuration));
  await workbench.runCommand('Tandem: Refresh Views');
  await workbench.openViews('Runs');
  const done = page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name: /^trained starter/ });
  await chooseInMenu(done, 'Blind Comparison with Base…');
  const told = await workbench.notification(
    /choose between two, unnamed.*one by trained starter, one by tiny/,
  );
  await workbench.screenshot('compare-blindly');
  const settings = JSON.parse(
    await readFile(path.join(own.workspace, '.vscode', 'settings.json'), 'utf8'),
  ) as Record<string, unknown>;
  expect(settings).toMatchObject({
    'tandem.agent': 'local:.tandem/runs/20260101-000000-done/model',
    'tandem.candidates.secondAgent': `openai:tiny@${own.server.url}`,
    'tandem.candidates.show': true,
  });
  await told.getByRole('button', { name: 'Play Next Task' }).click();
  await session().getByRole('heading', { name: 'Lot bill' }).waitFor();
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .click();
  await session().getByText('Which message is better?').waitFor();
  await accessiblePictures(workbench, session(), 'compare-choice');
});
