import { existsSync } from 'node:fs';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { ChatView } from './chatView';
import type { WorkbenchDriver } from './driver';
import { asksAgain, openFunction, selectFunction, startOnOwnCode, type OwnCode } from './ownCode';

let own: OwnCode;
let workbench: WorkbenchDriver;
let view: ChatView;

const chat = (): Locator => view.content;
const change = (): Locator => workbench.page.locator('.tab', { hasText: 'shop.py: file ↔ answer' });

beforeAll(async () => {
  own = await startOnOwnCode();
  ({ workbench } = own);
  view = new ChatView(workbench);
});
afterAll(() => own.close());

test('asks @tandem about what is selected, and is told when it asks on after Answer now', async () => {
  // The model that is picked in the chat answers where no agent is set.
  await own.configure({ 'tandem.agent': '' });
  await workbench.page.locator('.pane-header', { hasText: 'agent: none' }).waitFor();
  await openFunction(workbench);
  await selectFunction(workbench, 3);
  await workbench.runCommand('Chat: Open Chat');
  await view.pickModel('Mine');
  await chat().getByText('shop.py:4-7').waitFor();
  // Typed in full: the list that opens after the @ closes when the chat learns of a model meanwhile.
  await view.say('@tandem I need the price of a parcel.');
  await chat().getByText('From how many kilos is a parcel heavy?').waitFor();
  await expect.poll(() => chat().getByText('I do not know the limit').count()).toBe(0);
  await workbench.pictures('chat-asks');
  const told = own.server.requests[0]!.body.messages.map(({ content }) => content).join('\n');
  expect(told).toContain('From shop.py:\n\n```python\ndef parcel_price(weight_kg):');
  expect(told).not.toContain('print("end")');
  await chat().getByText('Answer now').click();
  await chat().getByText(asksAgain).waitFor();
  await chat().getByText('The agent did not answer: it wrote no function.').waitFor();
  await chat().getByRole('button', { name: 'Choose the Agent' }).waitFor();
  await workbench.pictures('chat-asks-again');
  await view.say('Above 20.');
  await chat().getByRole('button', { name: 'Run Tests' }).waitFor();
  await chat().locator('.view-line', { hasText: 'return 9.5 if weight_kg > 20' }).first().waitFor();
  await workbench.pictures('chat-answers');
  const last = own.server.requests.at(-1)!.body.messages;
  expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  // The context of an earlier message is not sent again.
  expect(last.at(-1)!.content).toBe('Above 20.');
});

test('runs the answer against the tests of the workspace', async () => {
  await chat().getByRole('button', { name: 'Run Tests' }).click();
  await workbench.notification(/2 of 2 tests passed/);
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
