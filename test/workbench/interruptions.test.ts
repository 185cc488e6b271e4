import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { LogEvent } from '../../src/core/trajectory/event';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { startChatServer, type ChatRequest, type ChatServer } from '../fixtures/chat-server';
import { answer, stallAfter } from '../fixtures/chat-server-replies';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';

/** References of the tasks. The last one is slow, so that the grading of an answer to it is visible. */
const references = {
  double: 'def double(x):\n    return 2 * x',
  half: 'def half(x):\n    return x / 2',
  total: 'def total(x):\n    return sum(range(2_000_000)) + x',
};
type TaskName = keyof typeof references;

const final = (code: string): string => `I WANT TO ANSWER:\n\`\`\`python\n${code}\n\`\`\``;
const turns: Readonly<Record<TaskName, readonly string[]>> = {
  double: ['What is x?', 'Which type has it?', final(references.double)],
  half: ['What is half?', 'Shall I round?', final(references.half)],
  total: ['Up to which number?', 'With the last one?', final('def total(x):\n    while True: pass')],
};

let workspace: string;
let server: ChatServer;
/** The agent pauses in the middle of its message while this is true. */
let stalls = false;
let workbench: WorkbenchDriver;

/** Actions of a person in one window. */
function person(window: WorkbenchDriver) {
  const session = () => window.webviewFrame('panel');
  const composer = () => session().getByRole('textbox', { name: 'Your reply to the agent' });
  return {
    session,
    composer,
    openTask: async (name: TaskName) => {
      const tasks = window.page.getByRole('tree', { name: 'Tasks' });
      await openRow(
        tasks.getByRole('treeitem', { name: new RegExp(`^${name}\\b`, 'i') }),
        session().getByRole('heading', { name: new RegExp(`^${name}$`, 'i') }),
      );
    },
    consent: async (pseudonym: string) => {
      await session().getByRole('textbox', { name: 'Pseudonym' }).fill(pseudonym);
      await session().getByRole('button', { name: 'Agree and start' }).click();
    },
    reply: async (question: string, text: string) => {
      await session().getByText(question).waitFor();
      await composer().fill(text);
      await composer().press('Enter');
    },
    trajectory: (label: RegExp) =>
      window.page.getByRole('tree', { name: 'Dialogues' }).getByRole('treeitem', { name: label }),
  };
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-interruptions-'));
  server = await startChatServer({ reply: replyTo });
  const rows = Object.entries(references).map(([name, reference]) => ({
    ...{ id: name, problem_description: `Write ${name}.\n\ndef ${name}(x)`, ground_truth: reference },
    test_cases: { test1: `${name}(1)`, test2: `${name}(2)` },
  }));
  await writeFile(path.join(workspace, 'small.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
  await mkdir(path.join(workspace, '.vscode'));
  await writeFile(
    path.join(workspace, '.vscode', 'settings.json'),
    JSON.stringify({
      'tandem.agent': `openai:told@${server.url}`,
      'tandem.session.openReference': false,
      // An endless answer runs long enough, and is waited for four times.
      'tandem.grading.timeCeilingMilliseconds': 1000,
    }),
  );
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await server.close();
  await rm(workspace, { recursive: true, force: true });
});

function replyTo({ body }: ChatRequest) {
  const said = body.messages.map(({ content }) => content).join('\n');
  const task = (Object.keys(turns) as TaskName[]).find((name) => said.includes(`def ${name}(x)`))!;
  const turn = body.messages.filter(({ role }) => role === 'assistant').length;
  const text = `OUTPUT:\n${turns[task][turn]!}`;
  return stalls ? stallAfter(text) : answer(text, { pieceDelay: 50 });
}

/** Reads the lines of every segment of the log. */
async function segments(): Promise<LogEvent[][]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.map((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LogEvent),
  );
}

/** Returns the events of a task's dialogue in the order of the log, without those of resuming. */
async function story(task: TaskName): Promise<string[]> {
  const events = (await segments()).flat().sort((a, b) => a.at.localeCompare(b.at));
  const started = events
    .filter((event) => event.event === 'episode-started')
    .find((event) => event.task === task);
  return events
    .filter((event) => 'episode' in event && event.episode === started?.episode && event.event !== 'resumed')
    .map((event) => (event.event === 'reply' ? event.text : event.event));
}

/** Returns the problems that the log finds in itself. */
async function problems(): Promise<unknown> {
  const log = await TrajectoryLog.open(path.join(workspace, '.tandem'));
  await log.close();
  return log.problems;
}

test('two windows write dialogues into one data folder at once', async () => {
  const window = await workbench.anotherWindow();
  const people = [person(workbench), person(window)] as const;
  const [ada, ben] = people;
  await workbench.showTandem();
  await ada.openTask('double');
  await ada.consent('ada');
  await ada.composer().waitFor();

  // Each window finds the other's dialogues in the log and sees their progress.
  await window.showTandem();
  await window.page.getByRole('treeitem', { name: /^Double, draft/ }).waitFor();
  await ben.openTask('double');
  await ben.session().getByText(turns.double[0]!).waitFor();
  await ada.reply(turns.double[0]!, 'One of double.');
  await ben.session().getByRole('log').getByText('One of double.').waitFor();
  await ben.session().getByText(turns.double[1]!).waitFor();
  await window.closeAllEditors();

  await ben.openTask('half');
  await ben.consent('ben');
  await ben.reply(turns.half[0]!, 'One of half.');
  await Promise.all(
    (['double', 'half'] as const).map(async (task, index) => {
      const { reply, session } = people[index]!;
      await reply(turns[task][1]!, `Two of ${task}.`);
      await session().getByRole('heading', { name: '2 of 2 tests passed' }).waitFor();
    }),
  );
  for (const { trajectory } of people) {
    await trajectory(/^Double, 2\/2 tests/).waitFor();
    await trajectory(/^Half, 2\/2 tests/).waitFor();
  }
  await window.close();
  for (const task of ['double', 'half'] as const) {
    expect(await story(task)).toEqual([
      ...['episode-started', 'agent-turn', `One of ${task}.`, 'leak', 'agent-turn', `Two of ${task}.`],
      ...['leak', 'agent-turn', 'answered', 'grade'],
    ]);
  }
  expect(await segments()).toHaveLength(2);
  expect(await problems()).toEqual([]);
});

/** Kills the extension host, and reloads the window as a person would. */
async function interrupt(): Promise<void> {
  await workbench.killExtensionHosts();
  await workbench.reload();
}

describe('at each step of a dialogue the extension host is killed and the window reloaded', () => {
  const ada = (): ReturnType<typeof person> => person(workbench);
  const button = (name: string) => ada().session().getByRole('button', { name, exact: true });

  test('while the agent writes, the reply before it is in the transcript and the agent is asked again', async () => {
    await workbench.closeAllEditors();
    await ada().openTask('total');
    await workbench.kept(/task\W+total\b/);
    await button('Start').click();
    await ada().session().getByText(turns.total[0]!).waitFor();
    await ada().composer().fill('Up to ten');
    await workbench.kept(/episode\W/);
    stalls = true;
    await ada().composer().press('Enter');
    await ada().session().getByRole('log').getByText('Up to ten').waitFor();
    await ada().session().locator('tandem-stream').getByText('With the last').waitFor();
    await interrupt();
    stalls = false;
    await ada().session().getByText('in the middle of a message').waitFor();
    await ada().session().getByRole('log').getByText('Up to ten').waitFor();
    await button('Try again').click();
    await ada().session().getByText(turns.total[1]!).waitFor();
  });

  test('while a reply is typed, the view says that nothing arrives, and when the browser has crashed, too, its words are there again', async () => {
    await ada().composer().fill('With it');
    await workbench.draftKept('With it');
    await workbench.killExtensionHosts();
    await ada().composer().press('Enter');
    await ada().session().getByText('The extension host does not respond').waitFor();
    await expect.poll(() => ada().composer().isEnabled()).toBe(true);
    // The browser may crash as well.
    await workbench.crash();
    await ada().composer().waitFor();
    await expect.poll(() => ada().composer().inputValue()).toBe('With it');
  });

  test('while the answer is graded, it is graded again on demand', async () => {
    const isHeld = workbench.hold(/grader\.js/);
    await ada().reply(turns.total[1]!, 'With it.');
    const goOn = await isHeld;
    await ada().session().getByText('Running the tests').waitFor();
    await interrupt();
    goOn();
    await ada().session().getByText('The answer has not been graded yet.').waitFor();
    await button('Grade the answer').click();
    await ada().session().getByRole('heading', { name: '0 of 2 tests passed' }).waitFor();
  });

  test('no line of the log is lost', async () => {
    expect(await story('total')).toEqual([
      ...['episode-started', 'agent-turn', 'Up to ten', 'leak', 'agent-turn', 'With it.', 'leak'],
      ...['agent-turn', 'answered', 'grade'],
    ]);
    expect(await problems()).toEqual([]);
  });
});
