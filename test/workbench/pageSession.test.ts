import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { pauseBeforeEnd } from '../fixtures/chat-server-replies';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';
import { allThemes } from './themes';

const SHEET = 'https://cdn.jsdelivr.net/npm/tailwindcss@2.2.19/dist/tailwind.min.css';

const page = (title: string, bar: string, rest = ''): string =>
  `<html><link href="${SHEET}" rel="stylesheet"><body class="bg-gray-100">` +
  `<header class="bg-${bar} p-6 text-white"><h1 class="text-3xl font-bold">${title}</h1></header>` +
  `<p class="p-6">Fresh bread every morning.</p>${rest}</body></html>`;
const wanted = page(
  'Golden Crust Bakery',
  'green-600',
  '<a class="m-6 rounded bg-green-600 px-4 py-2 text-white" href="#">Order now</a><img class="m-6" src="https://picsum.photos/id/48/300/200">',
);
const task = {
  ...{ id: 'golden-crust', kind: 'page', ground_truth: wanted },
  problem_description: 'Bakery Website: a short welcome page for a bakery, with its name and a way to order.',
};
const messages = [
  `I think.\n\nOUTPUT:\nHere is a first draft.\n\`\`\`html\n${page('Golden Crest', 'blue-500')}\n\`\`\``,
  `OUTPUT:\n${page('Golden Crust Bakery', 'green-600')}`,
  `OUTPUT:\nI WANT TO ANSWER:\n${page('Golden Crust Bakery', 'green-600', '<a class="m-6 rounded bg-green-600 px-4 py-2 text-white" href="#">Order now</a>')}`,
];

let workspace: string;
let agent: ChatServer;
let mayEnd: Promise<unknown> = Promise.resolve();
let workbench: WorkbenchDriver;
/** What the agent was told, in the order of its turns. */
let told: string[] = [];

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const press = (key: string): Promise<void> => workbench.page.keyboard.press(key);
const composer = () => session().getByRole('textbox', { name: 'Your reply to the agent' });
const area = () => session().getByRole('region', { name: 'Draft and wanted page' });
const drawn = (of: 'draft' | 'wanted') => area().locator(`.of-${of} iframe`).contentFrame();

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-page-session-'));
  await writeFile(
    path.join(workspace, 'pages.jsonl'),
    [task, { ...task, id: 'silver-spoon' }].map((row) => `${JSON.stringify(row)}\n`).join(''),
  );
  agent = await startChatServer({
    reply: ({ body }) => {
      told = body.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
      const turn = body.messages.filter(({ role }) => role === 'assistant').length;
      const isRival = body.model === 'rival';
      return pauseBeforeEnd(
        isRival ? `OUTPUT:\n${page('Silver Spoon', 'gray-500')}` : messages[turn]!,
        mayEnd,
      );
    },
  });
  await configure();
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await agent.close();
  await rm(workspace, { recursive: true, force: true });
});

test('lists a page task as one, and shows the wanted page before the start', async () => {
  await workbench.showTandem();
  const pseudonym = session().getByRole('textbox', { name: 'Pseudonym' });
  await openRow(workbench.page.getByRole('treeitem', { name: /Golden crust, page/ }), pseudonym);
  await drawn('wanted').getByText('Order now').waitFor();
  await pseudonym.fill('ada');
  await accessiblePictures(workbench, session(), 'page-session-consent');
});

test('shows a page while it is written by its length, and draws it when it is whole', async () => {
  const writing = Promise.withResolvers<unknown>();
  mayEnd = writing.promise;
  await press('Enter');
  await session()
    .getByText(/Page so far: \d+ characters/)
    .waitFor();
  expect(await session().locator('tandem-stream').innerText()).not.toContain('<html');
  mayEnd = Promise.resolve();
  writing.resolve(undefined);
  await drawn('draft').getByText('Golden Crest').waitFor();
  await session().getByRole('log').getByText('Here is a first draft.').waitFor();
  await session().locator('#reply:focus').waitFor();
});

test('pins parts of the pages by keyboard, in the words of the reply', async () => {
  await press('Alt+L');
  await session().locator('.part-list [role="listbox"]:focus').waitFor();
  await press('Enter');
  await session().locator('#reply:focus').waitFor();
  await workbench.page.keyboard.type('it is Golden Crust Bakery, in a green bar.');
  await expect
    .poll(() => composer().inputValue())
    .toBe('[1] the title “Golden Crest”: it is Golden Crust Bakery, in a green bar.');
  await press('Alt+L');
  await session().locator('.part-list [role="listbox"]:focus').waitFor();
  await press('ArrowDown');
  await press('Enter');
  await session().locator('#reply:focus').waitFor();
  await area()
    .locator('.of-wanted .can-pin')
    .click({ position: { x: 30, y: 50 } });
  await session().locator('#reply:focus').waitFor();
  await expect.poll(() => composer().inputValue()).toMatch(/\[3\] the link “Order now”: $/);
  await expect.poll(() => area().locator('.pin').count()).toBe(3);
  await accessiblePictures(workbench, session(), 'page-session', allThemes);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1500, 800);
  await workbench.screenshot('page-session-wide');
  await workbench.setSize(400, 800);
  await expectAccessible(session());
  await workbench.screenshot('page-session-400');
  // The newest message and the composer stay in sight.
  const main = await session().locator('main').boundingBox();
  expect(main!.height).toBeGreaterThan(80);
  await workbench.setSize(1280, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
});

test('keeps the draft and its pins over a reload', async () => {
  const before = await composer().inputValue();
  await workbench.draftKept(before);
  await workbench.kept(/episode\W/);
  await workbench.reload();
  await composer().waitFor();
  await expect.poll(() => composer().inputValue()).toBe(before);
  await expect.poll(() => area().locator('.pin').count()).toBe(3);
  await drawn('draft').getByText('Golden Crest').waitFor();
});

test('removes a pin whose number is taken out of the text, and logs the other', async () => {
  await composer().fill('[1] the title “Golden Crest”: it is Golden Crust Bakery, in a green bar.');
  await expect.poll(() => area().locator('.pin').count()).toBe(1);
  await composer().press('Enter');
  await session().getByText('turn 2 of 10').waitFor();
  await drawn('draft').getByText('Golden Crust Bakery').waitFor();
  expect(told.at(-1)).toContain('[1] the title “Golden Crest”: it is Golden Crust Bakery');
  expect(await logged('reply')).toMatchObject([
    { pins: [{ of: 'draft', words: 'the title “Golden Crest”' }] },
  ]);
});

test('drafts a reply by the differences of the pages, and grades the answer', async () => {
  await press('Alt+S');
  await expect.poll(() => composer().inputValue()).toMatch(/There should be .*“Order now”/);
  await press('Enter');
  const grade = session().getByRole('group', { name: 'Grade' });
  await grade.getByRole('heading', { name: /^Score 0\.\d\d$/ }).waitFor();
  await grade.getByText(/There should be a picture/).waitFor();
  await grade.getByText(/structure, version 1; drawn by .*Chrome\//).waitFor();
  expect(await grade.getByText('The result of each test').count()).toBe(0);
  await accessiblePictures(workbench, session(), 'page-session-graded', allThemes);
  await workbench.page.getByRole('treeitem', { name: /Golden crust, page, score 0\.\d+/ }).waitFor();
  await press('Alt+C');
  await workbench.page.getByRole('tab', { name: /answer ↔ reference/ }).waitFor();
});

test('shows two candidates as two pages, of which a key chooses one', async () => {
  await workbench.closeAllEditors();
  await configure({
    'tandem.candidates.show': true,
    'tandem.candidates.secondAgent': `openai:rival@${agent.url}`,
  });
  const started = session().getByText('Which message is better?');
  await openRow(
    workbench.page.getByRole('treeitem', { name: /Silver spoon, page/ }),
    session().getByRole('button', { name: 'Start' }),
  );
  await press('Enter');
  await started.waitFor();
  const both = session().locator('.of-both');
  for (const name of ['A', 'B'])
    await both
      .frameLocator(`iframe[title="${name}"]`)
      .getByRole('heading', { name: /Golden Crest|Silver/ })
      .waitFor();
  await accessiblePictures(workbench, session(), 'page-session-candidates', allThemes);
  await workbench.setSize(1700, 800);
  await workbench.screenshot('page-session-candidates-wide');
  await workbench.setSize(1280, 800);
  await session().locator('#candidates').press('2');
  await session().getByText('You chose B over A.').waitFor();
  await drawn('draft').getByRole('heading').waitFor();
});

test('reads pages by the frame of the session where the machine has no browser', async () => {
  const [byBrowser] = await logged('grade');
  await workbench.close();
  await configure();
  await rm(path.join(workspace, '.tandem'), { recursive: true });
  workbench = await startWorkbench({
    ...{ extension: root, workspace },
    // The server asks a login shell for PATH, which would name the browsers' folder.
    environment: { PATH: await commandsWithoutBrowsers(), SHELL: '/bin/true' },
  });
  await workbench.showTandem();
  const pseudonym = session().getByRole('textbox', { name: 'Pseudonym' });
  await openRow(workbench.page.getByRole('treeitem', { name: /Golden crust, page/ }), pseudonym);
  await pseudonym.fill('ada');
  await press('Enter');
  for (const turn of [1, 2]) {
    await session().getByText(`turn ${turn} of 10`).waitFor();
    await session().locator('#reply:focus').waitFor();
    await press('Alt+S');
    await expect.poll(() => composer().inputValue()).toContain('should');
    await press('Enter');
  }
  const grade = session().getByRole('group', { name: 'Grade' });
  await grade.getByText(/structure, version 1; drawn by frame .*Chrome\//).waitFor();
  await grade.getByText(/There should be a picture/).waitFor();
  const [byFrame] = await logged('grade');
  expect(Math.abs(byFrame!.grade!.reward - byBrowser!.grade!.reward)).toBeLessThan(0.02);
});

/** Writes the settings of the workspace. */
async function configure(more: object = {}): Promise<void> {
  const folder = path.join(workspace, '.vscode');
  await mkdir(folder, { recursive: true });
  const settings = { 'tandem.agent': `openai:painter@${agent.url}`, 'tandem.simulator': 'rules', ...more };
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify(settings));
}

/** A folder with the commands of this machine, without its browsers. */
async function commandsWithoutBrowsers(): Promise<string> {
  const folder = path.join(workspace, '.commands');
  await mkdir(folder);
  for (const place of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of await readdir(place).catch(() => [])) {
      if (/chrom|edge|brave/i.test(name)) continue;
      // A command of an earlier place comes first.
      await symlink(path.join(place, name), path.join(folder, name)).catch(() => undefined);
    }
  }
  return folder;
}

interface Line {
  readonly event: string;
  readonly pins?: unknown;
  readonly grade?: { readonly reward: number };
}

/** The events of a kind in the log. */
async function logged(kind: string): Promise<Line[]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  const lines = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as Line);
  return lines.filter(({ event }) => event === kind);
}
