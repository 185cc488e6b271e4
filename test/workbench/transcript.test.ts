import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import {
  answer,
  cutAfter,
  failAfter,
  pauseBeforeEnd,
  repeatForever,
  type Reply,
} from '../fixtures/chat-server-replies';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { repeatedly } from './retries';
import { usualThemes } from './themes';

/** As long as real agents write. */
const question = (number: number): string =>
  `OUTPUT:\nQuestion ${number}: at how many kilograms does a parcel count as **heavy**, and what follows from that?\n\n${'- It may depend on the zone, on the season and on the size of the parcel.\n'.repeat(4)}\nWhich of these is it in case ${number}?`;

const reply =
  'A parcel is heavy above 20 kilograms.\nThen the price rises by 4.50 euros.\nThe zone changes nothing about it,\nand neither does the season.\nThat is all.';

let workspace: string;
let agent: ChatServer;
let workbench: WorkbenchDriver;

const solution = 'OUTPUT:\nI WANT TO ANSWER:\ndef parcel_price(weight_kg, zone):\n    return 5';

let attempts = 0;
const mayThink = Promise.withResolvers<unknown>();
const mayEnd = Promise.withResolvers<unknown>();

/** Begins with thoughts, which stand until the test has looked at what comes before and after them. */
const held =
  (thoughts: string, end: Promise<unknown>): Reply =>
  async (response, sent) => {
    await mayThink.promise;
    await pauseBeforeEnd(thoughts, end)(response, sent);
  };

const hungUp = Promise.withResolvers<unknown>();

/** The attempts at the last message: one fails in the middle, one never ends, one answers. */
const last: Reply[] = [
  failAfter('OUTPUT:\nBefore it failed, it said this much', { message: 'engine died', code: 501 }),
  async (response, sent) => {
    await repeatForever('OUTPUT:\n', 'Does the season matter? ')(response, sent);
    hungUp.resolve(undefined);
  },
  answer(solution),
];

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-transcript-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  agent = await startChatServer({
    reply: ({ body }) => {
      const number = 1 + body.messages.filter(({ role }) => role === 'assistant').length;
      if (number === 10) return last.shift()!;
      if (number < 9) return answer(question(number), { pieceDelay: 10 });
      attempts += 1;
      return attempts === 1
        ? cutAfter('OUTPUT:\nHalf of')
        : held('I wonder about the zones.', mayEnd.promise);
    },
  });
  const settings = { 'tandem.agent': `openai:slow@${agent.url}`, 'tandem.simulator': 'rules' };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
  workbench = await startWorkbench({ extension: root, workspace });
  await workbench.showTandem();
  await repeatedly(session().getByRole('heading', { name: 'Parcel surcharge' }), (options) =>
    workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }).dblclick(options),
  );
  await session().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await session().getByRole('button', { name: 'Agree and start' }).click();
});

afterAll(async () => {
  await workbench.close();
  await agent.close();
  await rm(workspace, { recursive: true, force: true });
});

/** Pixels of the transcript that are hidden below its lower edge. */
const hidden = (): Promise<number> =>
  session()
    .locator('main')
    .evaluate((main) => Math.round(main.scrollHeight - main.scrollTop - main.clientHeight));

/** Types as a person types, and looks after each line whether the question can still be read. */
async function typeReply(): Promise<void> {
  await session().locator('#reply:focus').waitFor();
  for (const line of reply.split('\n')) {
    await workbench.page.keyboard.type(line);
    await workbench.page.keyboard.press('Shift+Enter');
    await expect.poll(hidden).toBe(0);
  }
}

test.each([
  [1280, 800, [1, 2, 3, 4]],
  [400, 800, [5, 6, 7]],
] as const)('shows the newest message while one types, at %i × %i pixels', async (width, height, turns) => {
  await workbench.setSize(width, height);
  for (const turn of turns) {
    await session().getByText(`in case ${turn}?`).waitFor();
    await expect.poll(hidden).toBe(0);
    await typeReply();
    await workbench.screenshot(`transcript-${width}-${turn}`);
    await workbench.page.keyboard.press('Enter');
  }
});

test('stays where a person has scrolled up to', async () => {
  await session().getByText('in case 8?').waitFor();
  await expect.poll(hidden).toBe(0);
  await session().getByText('in case 8?').hover();
  await workbench.page.mouse.wheel(0, -900);
  await expect.poll(hidden).toBeGreaterThan(500);
  const before = await hidden();
  await session().locator('#reply').focus();
  await workbench.page.keyboard.type('A reply of two lines,');
  await workbench.page.keyboard.press('Shift+Enter');
  await workbench.page.keyboard.type('and more.');
  await expect.poll(hidden).toBeGreaterThanOrEqual(before);
});

test('says that a request is repeated, and shows thoughts while they arrive', async () => {
  await workbench.setSize(1280, 800);
  await session().locator('#reply').press('Enter');
  const stream = session().locator('tandem-stream');
  await stream.getByText('Connection lost, retrying (2 of 5)…').waitFor();
  await expect.poll(hidden).toBe(0);
  await accessiblePictures(workbench, session(), 'transcript-retry', usualThemes);
  mayThink.resolve(undefined);
  await stream.getByText('I wonder about the').waitFor();
  await workbench.screenshot('transcript-thoughts');
  mayEnd.resolve(undefined);
  await session().getByText('turn 9 of 10').waitFor();
});

/** Both widths, because a message may be cut at either. */
async function pictures(name: string): Promise<void> {
  await accessiblePictures(workbench, session(), name, usualThemes);
  await workbench.setSize(400, 800);
  await expect.poll(hidden).toBe(0);
  await workbench.screenshot(`${name}-400`);
  await workbench.setSize(1280, 800);
}

const partial = (): Locator => session().locator('tandem-stream');

test('keeps what had arrived when a model fails in the middle of its message', async () => {
  await typeReply();
  await workbench.page.keyboard.press('Enter');
  await partial().getByText('Interrupted. This partial message is not in the log.').waitFor();
  await partial().getByText('Before it failed, it said this much').waitFor();
  await expect.poll(hidden).toBe(0);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await pictures('transcript-interrupted');
});

test('ends a message without end at once, and keeps what had arrived until the next attempt', async () => {
  await session().locator('#primary:focus', { hasText: 'Try again' }).press('Enter');
  await partial()
    .getByText(/(season matter\?.*){20}/)
    .waitFor();
  await expect.poll(hidden).toBe(0);
  await workbench.page.keyboard.press('Escape');
  await partial().getByText('Stopped. This partial message is not in the log.').waitFor();
  await hungUp.promise;
  await partial()
    .getByText(/(season matter\?.*){20}/)
    .waitFor();
  await pictures('transcript-stopped');
  await session().locator('#primary:focus', { hasText: 'Try again' }).press('Enter');
  await session()
    .getByRole('heading', { name: /of 10 tests passed/ })
    .waitFor();
  await expect.poll(() => partial().count()).toBe(0);
});

test('tells neither the agent nor the log of a partial message', async () => {
  const partials = /it said this much|season matter/;
  expect(JSON.stringify(agent.requests.at(-1)!.body)).not.toMatch(partials);
  const data = path.join(workspace, '.tandem');
  const files = await readdir(data, { recursive: true, withFileTypes: true });
  const logs = files.filter((file) => file.name.endsWith('.jsonl'));
  const texts = await Promise.all(
    logs.map(({ parentPath, name }) => readFile(path.join(parentPath, name), 'utf8')),
  );
  const log = texts.join('');
  expect(log).toContain('parcel_price(weight_kg, zone)');
  expect(log).not.toMatch(partials);
});
