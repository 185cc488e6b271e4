import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { NewEvent } from '../../src/core/trajectory/event';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { startChatServer, type ChatRequest, type ChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { chosen } from '../fixtures/choices';
import { habitOf, playedBy } from '../fixtures/developers';
import { judgement, kim, play } from '../fixtures/log';
import { starterPack } from '../fixtures/starter';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { chooseInMenu, openRow } from './rows';
import { allThemes } from './themes';

let workspace: string;
let server: ChatServer;
let workbench: WorkbenchDriver;

const page = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const widget = (): Locator => workbench.quickInput.widget;
/** The row of a person who may play a pack. */
const assignee = (name: string): Locator => workbench.quickInput.listed(name);
const ada = { kind: 'developer', name: 'ada' } as const;

const rating = (episode: string, by: string, stars: number, comment?: string): NewEvent => ({
  ...{ event: 'rating', episode, stars, by },
  ...(comment && { comment }),
});

/** Logs dialogues that Ada and Kim played, rated and judged in one data folder. */
async function playTogether(folder: string): Promise<void> {
  const log = await TrajectoryLog.open(folder);
  const given = [5, 4, 4, 3, 2, 5, 1, 1];
  for (const [index, stars] of given.entries()) {
    const episode = `rated-${index}`;
    await play(log, episode, index % 3 === 0 ? 0 : 1, { collaborator: index % 2 === 0 ? ada : kim });
    await log.append(rating(episode, 'ada', stars));
    await log.append(
      rating(episode, 'kim', index === 5 ? 1 : stars, index === 5 ? 'It guesses.' : undefined),
    );
  }
  await chosen(log, 'chosen', [0, 1]);
  const pairs = (await log.trajectory('chosen'))!.turns.flatMap(({ candidates = [] }) => candidates);
  await log.appendAll(pairs.map((pair) => judgement(pair, 0, 0, 'ada')));
  const tasks = (await starterPack()).slice(0, 8);
  for (const by of ['cleo', 'dan'] as const) await playedBy(habitOf(by), tasks, { log, by });
  await log.close();
}

const functions = ['double', 'twice', 'times_two', 'twofold'];

/** Writes a pack of tasks, and settings with an agent that answers each at once. */
async function writeTasks(): Promise<void> {
  const rows = functions.map((name) => ({
    ...{ id: name, problem_description: `Write ${name}.\n\ndef ${name}(x)` },
    ...{ ground_truth: `def ${name}(x):\n    return 2 * x`, test_cases: { test1: `${name}(1)` } },
  }));
  await writeFile(path.join(workspace, 'shared.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
  await mkdir(path.join(workspace, '.vscode'));
  await writeFile(
    path.join(workspace, '.vscode', 'settings.json'),
    JSON.stringify({
      'tandem.agent': `openai:told@${server.url}`,
      'tandem.session.openReference': false,
    }),
  );
}

function answerAtOnce({ body }: ChatRequest) {
  const said = body.messages.map(({ content }) => content).join('\n');
  const name = functions.find((one) => said.includes(`def ${one}(x)`))!;
  const code = `def ${name}(x):\n    return 2 * x`;
  return answer(`OUTPUT:\nI WANT TO ANSWER:\n\`\`\`python\n${code}\n\`\`\``);
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-people-'));
  server = await startChatServer({ reply: answerAtOnce });
  await writeTasks();
  await playTogether(path.join(workspace, '.tandem'));
  workbench = await startWorkbench({ extension: root, workspace });
  await workbench.showTandem();
});

afterAll(async () => {
  await workbench.close();
  await server.close();
  await rm(workspace, { recursive: true, force: true });
});

/** Pixels by which the page or one of its tables is wider than its place. */
const sideways = async (): Promise<number> =>
  page()
    .locator('html')
    .evaluate<number, HTMLElement>(
      `Math.max(...[document.documentElement, ...document.querySelectorAll('.scroll')].map(
        (one) => one.scrollWidth - one.clientWidth))`,
    );

test('people are shown with their figures, how far they agree, and where they do not', async () => {
  await workbench.runCommand('Tandem: Show People and Agreement');
  await page().getByRole('heading', { name: 'People and Agreement', exact: true }).waitFor();
  const people = page().getByRole('table', { name: 'Figures of each person' });
  await people.getByRole('row', { name: /^ada 4 .* n = 1 .* 3\.1 .* n = 8/ }).waitFor();
  await people.getByRole('row', { name: /^kim 5 .* 2\.6 .* n = 8/ }).waitFor();
  await page().getByText('8 dialogues rated by two or more').waitFor();
  await page().getByText('2 pairs of candidates judged by two or more').waitFor();
  const choice = page().getByRole('article').filter({ hasText: 'Choices, turn 2' });
  await choice.getByText('chosen by ada').waitFor();
  await choice.getByText('chosen by kim').waitFor();
  await accessiblePictures(workbench, page(), 'people-agreement', allThemes);
});

test('a kind of disagreement is chosen, and its dialogue opened', async () => {
  await page().getByRole('combobox', { name: 'On' }).selectOption('stars');
  await expect.poll(() => page().getByRole('article').count()).toBe(1);
  await page().getByRole('button', { name: 'Open dialogue' }).click();
  await page()
    .getByRole('heading', { name: /tests passed/ })
    .waitFor();
  await page().getByText('rated by ada').waitFor();
  await page().getByText('“It guesses.” rated by kim').waitFor();
});

test('a simulator is compared with people, then with one of them', async () => {
  await workbench.closeAllEditors();
  await workbench.runCommand('Tandem: Show People and Agreement');
  await page().getByRole('button', { name: 'Compare with a simulator' }).click();
  await page().getByRole('table', { name: 'Difference' }).waitFor();
  await page()
    .getByText(/Add facts to the task/)
    .waitFor();
  await page().getByRole('combobox', { name: 'People' }).selectOption('cleo');
  await page()
    .getByText(/^Too kind: it answers more/)
    .waitFor();
  await accessiblePictures(workbench, page(), 'people-simulator', allThemes);
  await workbench.setSize(400, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.page.locator('.part.sidebar').waitFor({ state: 'hidden' });
  await expect.poll(sideways, { message: 'nothing scrolls sideways' }).toBeLessThanOrEqual(0);
  await workbench.screenshot('people-simulator-400');
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);
});

/** Actions of a person in one window on the tasks of the pack. */
function personAt(window: WorkbenchDriver) {
  const row = (name: RegExp) =>
    window.page.getByRole('tree', { name: 'Tasks' }).getByRole('treeitem', { name });
  const session = () => window.webviewFrame('panel');
  return {
    ...{ row, session },
    pack: (words: string) => row(new RegExp(`^shared, ${words}`)),
    others: row(/^Assigned to Others, 2 tasks/),
    /** Answers the questions of *Change Pseudonym and Consent…*. */
    isCalled: async (pseudonym: string) => {
      await window.quickInput.answer('(1/3)', pseudonym);
      for (const step of ['(2/3)', '(3/3)']) await window.quickInput.answer(step);
      await window.notification(new RegExp(`Logged for ${pseudonym}`));
      await window.clearNotifications();
    },
    playNext: () => window.runCommand('Tandem: Play Next Task'),
    start: async () => {
      await session().getByRole('button', { name: 'Start', exact: true }).click();
      await session().getByRole('heading', { name: '1 of 1 tests passed' }).waitFor();
      await window.closeAllEditors();
    },
  };
}

test('a pack is assigned, and each of two people has a queue and a progress of their own', async () => {
  await workbench.closeAllEditors();
  const ada = personAt(workbench);
  await workbench.runCommand('Tandem: Change Pseudonym and Consent…');
  await ada.isCalled('ada');
  await chooseInMenu(ada.row(/^shared/), 'Assign Pack…', assignee('kim').getByText('dialogues'));
  await workbench.quickInput.pick('ada');
  await widget().getByText('1 Selected').waitFor();
  await widget().getByRole('textbox').fill('ben');
  await assignee('ben').getByText('not used here yet').waitFor();
  await widget().getByText('2 Selected').waitFor();
  await workbench.screenshot('assign-people');
  await widget().getByRole('textbox').press('Enter');
  await workbench.quickInput.listed('1 person').getByText('4 dialogues, 2 for each person').waitFor();
  await workbench.quickInput.pick('1 person');
  await workbench.notification(/each task to one of them\. Pseudonyms not used here yet: ben\./);
  await workbench.clearNotifications();
  await ada.pack('yours 0 of 2, all 0 of 4').waitFor();
  await ada.others.waitFor();

  await ada.playNext();
  await ada.start();
  await ada.pack('yours 1 of 2, all 1 of 4').waitFor();

  const window = await workbench.anotherWindow();
  const ben = personAt(window);
  await window.showTandem();
  await ben.pack('all 1 of 4').waitFor();
  // Nobody knows yet whose tasks these are, so any is next, and the person is asked.
  await ben.playNext();
  await ben.session().getByRole('button', { name: 'Agree and start' }).waitFor();
  const asked = await window.notification(/shared is assigned to ada, ben\. Choose your pseudonym/);
  await asked.getByRole('button', { name: 'Choose…' }).click();
  await ben.isCalled('ben');
  await window.closeAllEditors();
  await ben.pack('yours 0 of 2, all 1 of 4').waitFor();
  // Ada's dialogue is not Ben's, and her tasks are out of his way.
  await openRow(ben.others, ben.row(/, new, ada: 1\/1 tests$/));
  await window.pictures('assigned-tasks', allThemes);
  for (const done of [1, 2]) {
    await ben.playNext();
    await ben.start();
    await ben.pack(`yours ${done} of 2, all ${done + 1} of 4`).waitFor();
  }
  await ben.playNext();
  await window.notification(/You have played all that is assigned to you here/);
  await window.close();
});

test('a wrong assignment is taken back', async () => {
  const ada = personAt(workbench);
  await workbench.runCommand('Tandem: Assign Pack…');
  for (const name of ['ada', 'ben']) await workbench.quickInput.pick(name);
  await widget().getByText('0 Selected').waitFor();
  await widget().getByRole('textbox').press('Enter');
  const told = await workbench.notification(/shared is no longer assigned to anyone/);
  await ada.pack('4 tasks, 1 done').waitFor();
  await told.getByRole('button', { name: 'Undo' }).click();
  await ada.pack('yours 1 of 2, all 3 of 4').waitFor();
});
