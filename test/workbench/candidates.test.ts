import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { pauseBeforeEnd } from '../fixtures/chat-server-replies';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { holdTimers } from './held';
import { startWorkbench } from './launch';
import { openRow } from './rows';
import { allThemes } from './themes';

const says = (text: string): string => `I wonder.\n\nOUTPUT:\n${text}`;
const solves = (base: number): string =>
  says(
    `I WANT TO ANSWER:\n\`\`\`python\ndef parcel_price(weight_kg, zone):\n    base = {1: ${base}, 2: 8, 3: 12}.get(zone, -1)\n    return base + 4.5 if weight_kg > 20 else base\n\`\`\``,
  );

/** Two agents that ask different questions. */
const agents = {
  curious: [
    says('At how many kilograms does a parcel count as **heavy**, and how big is the supplement?'),
    solves(5),
  ],
  hasty: [says('Which currency?'), solves(4)],
};

let workspace: string;
let server: ChatServer;
/** Resolves when the agents may end their current messages. */
let mayEnd: Promise<unknown> = Promise.resolve();
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const composer = () => session().getByRole('textbox', { name: 'Your reply to the agent' });
const question = () => session().getByText('Which message is better?');
const leaderboard = () => workbench.page.getByRole('treeitem', { name: /^Leaderboard, / });
const candidate = (name: 'A' | 'B') => session().getByRole('article', { name: `Candidate ${name}` });

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-candidates-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  // The tree draws only the rows that fit: the tasks of this test should come first.
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  server = await startChatServer({
    reply: ({ body }) => {
      const turn = body.messages.filter(({ role }) => role === 'assistant').length;
      return pauseBeforeEnd(agents[body.model as keyof typeof agents][turn]!, mayEnd);
    },
  });
  await writeFile(
    path.join(workspace, '.vscode', 'settings.json'),
    JSON.stringify({
      'tandem.servers': Object.keys(agents).map((name) => ({ name, baseUrl: server.url, model: name })),
      'tandem.agent': `openai:curious@${server.url}`,
      'tandem.candidates.show': true,
      'tandem.candidates.secondAgent': `openai:hasty@${server.url}`,
      'tandem.session.openReference': false,
    }),
  );
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await server.close();
  await rm(workspace, { recursive: true, force: true });
});

test('statistics of no dialogue offer to play one', async () => {
  await workbench.showTandem();
  await workbench.runCommand('Tandem: Show Statistics of Dialogues');
  await session().getByText('Statistics appear here once there are dialogues.').waitFor();
  await workbench.closeAllEditors();
});

test('two candidates are shown when both are written, unnamed', async () => {
  const pseudonym = session().getByRole('textbox', { name: 'Pseudonym' });
  await openRow(workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }), pseudonym);
  await pseudonym.fill('ada');
  const writing = Promise.withResolvers<unknown>();
  mayEnd = writing.promise;
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await session().getByText('Two messages are being written').waitFor();
  await session().locator('footer').getByRole('timer').waitFor();
  expect(await candidate('A').or(candidate('B')).count()).toBe(0);
  mayEnd = Promise.resolve();
  writing.resolve(undefined);
  await candidate('A').waitFor();
  await question().waitFor();
  const both = `${await candidate('A').innerText()} ${await candidate('B').innerText()}`;
  expect(both).toContain('as heavy');
  expect(both).toContain('Which currency?');
  expect(both).not.toMatch(/curious|hasty/);
  await accessiblePictures(workbench, session(), 'candidates', allThemes);
  await workbench.setSize(900, 800);
  await workbench.screenshot('candidates-narrow');
  const gap = async (): Promise<number> => {
    const [a, b] = [await candidate('A').boundingBox(), await candidate('B').boundingBox()];
    return b!.y - a!.y - a!.height;
  };
  await expect.poll(gap).toBeGreaterThan(0);
  await workbench.setSize(1280, 800);
});

test('a reload amid the choice shows the same two, and a key chooses', async () => {
  const before = await candidate('B').innerText();
  await workbench.kept(/episode\W/);
  await workbench.reload();
  await question().waitFor();
  await expect.poll(() => candidate('B').innerText()).toBe(before);
  await session().locator('#candidates').press('2');
  await session().getByText('You chose B over A.').waitFor();
  await composer().fill('Above 20 kilograms, 4.50 more.');
  await composer().press('Enter');
});

test('a click that selects a word chooses nothing; at the end the names are told', async () => {
  await question().waitFor();
  // However long the time for a second click is.
  const holding = await session().locator('#candidates').evaluateHandle(holdTimers);
  await candidate('A')
    .locator('.said')
    .getByText(/def|return|\w/)
    .first()
    .dblclick();
  await holding.evaluate((end) => end());
  await question().waitFor();
  await candidate('A').getByRole('heading', { name: 'A' }).click();
  await session()
    .getByRole('heading', { name: /\d+ of 10 tests passed/ })
    .waitFor();
  await session()
    .getByText(/You chose B \((curious|hasty)\) over A \((curious|hasty)\)\./)
    .waitFor();
  await workbench.openViews('Models');
  const ranked = (name: string) =>
    workbench.page.getByRole('treeitem', {
      name: new RegExp(`^${name} \\(openai:.*\\), Chosen over an average model`),
    });
  await openRow(leaderboard(), ranked('curious'));
  await ranked('hasty').waitFor();
  await workbench.screenshot('leaderboard');
});
