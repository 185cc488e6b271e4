import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { LogEvent } from '../../src/core/trajectory/event';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer as completes, pauseBeforeEnd, stallAfter } from '../fixtures/chat-server-replies';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { repeatedly } from './retries';
import { openRow, pressKey } from './rows';
import { usualThemes } from './themes';

const says = (text: string): string => `I wonder.\n\nOUTPUT:\n${text}`;
/** An answer that is wrong for parcels of more than 20 kg in two zones, so that the table shows failed tests. */
const answer = `def parcel_price(weight_kg, zone):
    base = {1: 5, 2: 8, 3: 12}.get(zone, -1)
    return base + 4.5 if weight_kg > 20 and zone == 1 else base`;

let turns = [
  says('At how many kilograms does a parcel count as **heavy**?'),
  says('How big is the supplement?'),
  says('What should come out for a zone that does not exist?'),
  says('Does the supplement depend on the zone?'),
  says('Is the price in euros or in cents?'),
  says('How shall I round? See [the manual](https://example.org/round).\n\n```python\nround(1.5)\n```'),
  says('May the weight be zero?'),
  says('Is there anything else that I should know?'),
  says(`I WANT TO ANSWER:\n\`\`\`python\n${answer}\n\`\`\``),
];

let workspace: string;
/** The agent, which sends its turns one by one when the test allows it. */
let agent: ChatServer;
let mayEnd: Promise<unknown> = Promise.resolve();
/** A model that pauses in the middle of every message, so that the test can check a partial message. */
let stalling: ChatServer;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const press = (key: string): Promise<void> => workbench.page.keyboard.press(key);
const composer = () => session().getByRole('textbox', { name: 'Your reply to the agent' });

/**
 * Counts the running animations of the session, including those in components of the toolkit.
 * @param isCalm whether the editor requests reduced motion, as its settings do in all tests
 */
const moving = (isCalm: boolean): Promise<number> =>
  session()
    .locator('body')
    .evaluate((body, calm) => {
      body.classList.toggle('vscode-reduce-motion', calm);
      const shadows = Array.from(body.querySelectorAll('*'), ({ shadowRoot }) => shadowRoot ?? []).flat();
      const all = [document, ...shadows].flatMap((tree) => tree.getAnimations());
      return all.filter(({ playState }) => playState === 'running').length;
    }, isCalm);

/** Returns the pixels from the lower edge of something to the button that agrees, which may still be laid out. */
async function spaceAboveAgree(of: Locator): Promise<number> {
  const { y, height } = (await of.boundingBox())!;
  const agree = (await session().getByRole('button', { name: 'Agree and start' }).boundingBox())!;
  return agree.y - y - height;
}

/** Opens an editor in the session's column, which hides the session. */
async function showOther(): Promise<void> {
  await workbench.page.getByRole('tab', { name: /Untitled-1/ }).click();
  await composer().waitFor({ state: 'detached' });
}

async function showSession(): Promise<void> {
  await workbench.page.getByRole('tab', { name: 'Parcel surcharge' }).click();
  await composer().waitFor();
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-session-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  // The tree draws only the rows that fit: the tasks of this test should come first.
  await rm(path.join(workspace, 'starter-world.jsonl'));
  agent = await startChatServer({
    reply: ({ body }) => {
      const turn = body.messages.filter(({ role }) => role === 'assistant').length;
      return pauseBeforeEnd(turns[turn]!, mayEnd);
    },
  });
  stalling = await startChatServer({ reply: () => stallAfter(says('How big is the supplement, and')) });
  await configure({});
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await agent.close();
  await stalling.close();
  await rm(workspace, { recursive: true, force: true });
});

/** Calls `act` while the agent writes its next message, and then lets the message end. */
async function whileItWrites(act: () => Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  mayEnd = promise;
  await act();
  mayEnd = Promise.resolve();
  resolve(undefined);
}

/** Writes the workspace's settings, which the editor notices. */
async function configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const all = { 'tandem.agent': `openai:slow@${agent.url}`, 'tandem.simulator': 'rules', ...settings };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(all));
}

/** Reads the log of the workspace, line by line. */
async function loggedEvents(): Promise<LogEvent[]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as LogEvent);
}

test('a developer opens a task and agrees to be logged under a pseudonym', async () => {
  await workbench.showTandem();
  // Whether this is a double click or two single ones, one session opens.
  await repeatedly(session().getByRole('heading', { name: 'Parcel surcharge' }), (options) =>
    workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }).dblclick(options),
  );
  await workbench.page.getByRole('tab', { name: /parcel-surcharge\.reference\.py/ }).waitFor();
  await expect.poll(() => workbench.page.getByRole('tab', { name: 'Parcel surcharge' }).count()).toBe(1);
  await session().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await session().getByText('The agent sees only the request above. You know the reference').waitFor();
  await accessiblePictures(workbench, session(), 'session-consent', usualThemes);
  // All three choices are visible beside a document.
  await expect
    .poll(() => spaceAboveAgree(session().getByText('Also your edits, truncated text')))
    .toBeGreaterThanOrEqual(0);
  await workbench.setSize(700, 520);
  const third = session().getByRole('radio').last();
  const spaceAboveAgreeWhenScrolled = async (): Promise<number> => {
    await third.scrollIntoViewIfNeeded();
    return spaceAboveAgree(third);
  };
  await expect.poll(spaceAboveAgreeWhenScrolled).toBeGreaterThanOrEqual(0);
  await workbench.screenshot('session-consent-small');
  await workbench.setSize(1280, 800);
  await session().getByRole('button', { name: 'Agree and start' }).click();
});

test('types replies to the agent, which streams its messages', async () => {
  await session().locator('#reply:focus').waitFor();
  await composer().fill('Above 20 kilograms.');
  await whileItWrites(async () => {
    await composer().press('Enter');
    await session().locator('tandem-stream').getByText('How big is the supplement').waitFor();
    await workbench.page.locator('.editor-instance .monaco-editor').click();
  });
  await session().getByText('turn 2 of 10').waitFor();
  await session().getByText('Above 20 kilograms.').waitFor();
  await composer().waitFor();
  await session().getByRole('timer').waitFor();
  await expectAccessible(session());
});

test('leaves the focus to a document, and gives it to the composer when the person comes back', async () => {
  await workbench.page.waitForTimeout(500);
  await expect.poll(() => workbench.page.locator('.editor-instance .monaco-editor.focused').count()).toBe(1);
  await workbench.page.getByRole('tab', { name: 'Parcel surcharge' }).click();
  await session().locator('#reply:focus').waitFor();
});

test('stops the agent with Escape and asks again with Enter', async () => {
  await configure({ 'tandem.agent': `openai:stalling@${stalling.url}` });
  await session().getByText('agent: stalling').waitFor();
  await composer().fill('4.50 euros.');
  await composer().press('Enter');
  await session().locator('tandem-stream').getByText('How big is the supplement').waitFor();
  await expectAccessible(session());
  const agentPicker = session().getByRole('button', { name: 'agent: stalling' });
  await expect
    .poll(() => agentPicker.getAttribute('title'))
    .toBe('The agent is writing. Stop it to choose another one.');
  await expect.poll(() => moving(false)).toBeGreaterThan(0);
  await workbench.page.emulateMedia({ reducedMotion: 'reduce' });
  await expect.poll(() => moving(false)).toBe(0);
  await workbench.page.emulateMedia({ reducedMotion: 'no-preference' });
  await expect.poll(() => moving(true)).toBe(0);
  await workbench.page.keyboard.press('Escape');
  await session().getByText('The agent was stopped.').waitFor();
  await expectAccessible(session());
  for (const [picker, title] of [
    [agentPicker, 'Choose the Agent'],
    [session().getByTitle(/Choose another simulator…$/), 'Choose the Simulator'],
  ] as const) {
    await pressKey(picker, 'Enter', workbench.quickInput.widget.getByText(title, { exact: true }));
    await workbench.quickInput.dismiss();
    await workbench.quickInput.widget.waitFor({ state: 'hidden' });
  }
  await workbench.screenshot('session-pickers');
  await configure({});
  await session().getByText('agent: slow', { exact: true }).waitFor();
  await session().getByRole('button', { name: 'Ask again' }).press('Enter');
  await session().getByText('a zone that does not exist').waitFor();
});

test('has a reply suggested with one key, edits it and sends it', async () => {
  await composer().fill('Then it gives minus one');
  await composer().press('Enter');
  await session().getByText('depend on the zone').waitFor();
  await composer().fill('I thi');
  await press('Alt+s');
  await session().getByText('Drafted by the rules').waitFor();
  await composer().press('Escape');
  await expect.poll(() => composer().inputValue()).toBe('I thi');
  await press('Alt+s');
  await session().getByText('Drafted by the rules').waitFor();
  await workbench.screenshot('session-suggestion');
  await expectAccessible(session());
  await composer().press('End');
  await composer().pressSequentially(' Sure.');
  await composer().press('Enter');
  await session().getByText('edited from a draft by rules').waitFor();
});

test('keeps a draft that comes, and the last words, while another editor is in front', async () => {
  const drafted = Promise.withResolvers<string>();
  const reply = () => drafted.promise.then((text) => completes(text));
  await using drafting = await startChatServer({ reply });
  await session().getByText('in cents?').waitFor();
  await configure({
    'tandem.servers': [{ name: 'Helper', baseUrl: drafting.url, model: 'drafting' }],
    'tandem.simulator': `openai:drafting@${drafting.url}`,
  });
  await session().getByTitle('Helper drafts a reply for you').waitFor();
  await composer().fill('It is in eu');
  await press('Alt+s');
  // The reply comes too late to be sent, and the session still works afterwards.
  await press('Enter');
  await session().getByText('Helper drafts a reply').waitFor();
  await workbench.runCommand('File: New Untitled Text File');
  await composer().waitFor({ state: 'detached' });
  drafted.resolve('In euros.');
  await (
    await drafting.request(0)
  ).ended;
  await showSession();
  await session().getByText('Drafted by Helper').waitFor();
  await expect.poll(() => composer().inputValue()).toBe('In euros.');
  await composer().press('Escape');
  await composer().press('End');
  await composer().pressSequentially('ros');
  await showOther();
  await showSession();
  await expect.poll(() => composer().inputValue()).toBe('It is in euros');
  await composer().fill('');
  await configure({});
  await session().getByTitle('rules drafts a reply for you').waitFor();
});

test('a simulator that goes on and on is stopped by itself, and its draft has the length of a reply', async () => {
  const rambling = 'It is in cents, I think. '.repeat(100);
  await using endless = await startChatServer({ reply: () => stallAfter(rambling) });
  await session().getByText('in cents?').waitFor();
  await configure({ 'tandem.simulator': `openai:endless@${endless.url}` });
  await session().getByTitle('endless drafts a reply for you').waitFor();
  await press('Alt+s');
  await session().getByText('Drafted by endless').waitFor();
  await expect.poll(() => composer().inputValue()).toBe(rambling.slice(0, 400));
  expect(await (await endless.request(0)).ended).toBe('hung up');
  await workbench.screenshot('session-rambling-draft');
  await composer().press('Escape');
  await expect.poll(() => composer().inputValue()).toBe('');
  await configure({});
  await session().getByTitle('rules drafts a reply for you').waitFor();
});

test('stops a simulator that takes long over a draft, and one that takes long over a reply', async () => {
  await session().getByText('in cents?').waitFor();
  await composer().waitFor();
  await configure({ 'tandem.simulator': `openai:stalling@${stalling.url}` });
  await session().getByTitle('stalling drafts a reply for you (Alt+S)').waitFor();
  const working = session().getByRole('button', { name: 'Stop' });
  for (const [key, doing] of [
    ['Alt+s', 'stalling drafts a reply'],
    ['Alt+a', 'stalling is answering'],
  ] as const) {
    await press(key);
    await session().getByText(doing).waitFor();
    await expectAccessible(session());
    await working.press('Enter');
    await session().getByRole('button', { name: 'No preference' }).waitFor();
  }
  await configure({});
  await session().getByTitle('rules drafts a reply for you').waitFor();
});

test('says with one key that there is no preference', async () => {
  await session().getByText('in cents?').waitFor();
  await composer().waitFor();
  await press('Alt+d');
  await session().getByText('I have no preference').waitFor();
  await session().getByText('How shall I round').waitFor();
});

test('recalls earlier replies with the arrow keys in an empty composer', async () => {
  await composer().waitFor();
  await composer().press('ArrowUp');
  await composer().press('ArrowUp');
  await expect.poll(() => composer().inputValue()).toMatch(/ Sure\.$/);
  await composer().press('ArrowDown');
  await expect.poll(() => composer().inputValue()).toMatch(/^I have no preference/);
  await composer().press('ArrowDown');
  await expect.poll(() => composer().inputValue()).toBe('');
});

test('asks the agent for another sample, and keeps both', async () => {
  await composer().waitFor();
  await press('Alt+r');
  await session().getByText('The agent wrote the same message again').waitFor();
  await session().getByText('Sample 2 of this message').waitFor();
});

test('copies code, opens links and reads thoughts by keyboard', async () => {
  await session().getByRole('log').getByRole('button', { name: 'Copy the code' }).press('Enter');
  await expect.poll(() => workbench.clipboard()).toContain('round(1.5)');
  await session().getByRole('link', { name: 'the manual' }).press('Enter');
  const question = workbench.page.getByRole('dialog');
  await question.getByText('https://example.org/round').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  const thoughts = session().locator('summary').last();
  await thoughts.press('Enter');
  await session().getByText('I wonder.').last().waitFor();
  await thoughts.press('Enter');
});

test('tells a screen reader how long a reply may be, and why one is not sent', async () => {
  await composer().fill('x'.repeat(412));
  await composer().press('Enter');
  await session().getByRole('status').getByText('Not sent: 12 characters too many.').waitFor();
  await expect.poll(() => composer().getAttribute('aria-invalid')).toBe('true');
  const described = await composer().getAttribute('aria-describedby');
  await session().locator(`#${described!}`).getByText('412 of at most 400 characters').waitFor();
  await composer().fill('');
});

test('lists its keys on request', async () => {
  await session().getByRole('log').click();
  await press('?');
  await session().getByRole('definition').getByText('Compare with the reference').waitFor();
  await workbench.screenshot('session-keys');
  await expectAccessible(session());
  await press('?');
  await session().getByRole('definition').first().waitFor({ state: 'hidden' });
});

test('is warned before a reply gives the reference away, and can edit it or send it anyway', async () => {
  const code = 'Use {1: 5, 2: 8, 3: 12}.get(zone) and return base + 4.5 if weight_kg > 20 else base';
  await composer().fill(code);
  await composer().press('Enter');
  await session().getByText('Not sent yet: this gives away').waitFor();
  await workbench.screenshot('session-leak-warning');
  await expectAccessible(session());
  await press('Enter');
  await session().getByText('Not sent yet').waitFor({ state: 'detached' });
  await expect.poll(() => composer().inputValue()).toBe(code);
  await composer().press('Enter');
  await session().getByText('Not sent yet').waitFor();
  await showOther();
  await showSession();
  await session().getByRole('button', { name: 'Send anyway' }).press('Enter');
  await session()
    .getByText(/gives away \d+ % of the reference/)
    .waitFor();
  await session().getByText('May the weight be zero?').waitFor();
});

test('hands over to the simulator and takes the seat back while it plays', async () => {
  await composer().waitFor();
  await whileItWrites(async () => {
    await session().getByRole('button', { name: 'Hand over to simulator' }).click();
    await session().locator('tandem-stream').getByText('anything else').waitFor();
    await session().getByRole('button', { name: 'Take over' }).waitFor();
    await press('Alt+i');
    await session().getByText('You reply').waitFor();
  });
  await session().getByText('anything else').waitFor();
  await workbench.screenshot('session-seat-taken');
});

test('hides the counters of turns and time', async () => {
  await session().getByText('turn 8 of 10').waitFor();
  await configure({ 'tandem.session.showCounters': false });
  await session().getByRole('timer').waitFor({ state: 'detached' });
  await expect.poll(() => session().getByText('of 10').count()).toBe(0);
  await configure({});
  await session().getByRole('timer').waitFor();
  await workbench.runCommand('Tandem: Toggle Turns and Time of Session');
  await session().getByRole('timer').waitFor({ state: 'detached' });
  await workbench.runCommand('Tandem: Toggle Turns and Time of Session');
  await session().getByRole('timer').waitFor();
});

test('lets the simulator answer one turn and sees the table of tests', async () => {
  await session().getByRole('button', { name: 'Let the simulator answer' }).click();
  await session()
    .getByRole('heading', { name: /\d of 10 tests passed/ })
    .waitFor();
  const table = session().getByRole('table');
  await expect.poll(() => table.getByRole('button', { name: /details/ }).count()).toBe(10);
  await expect.poll(() => table.getByRole('button', { expanded: true }).count()).toBe(1);
  await session().getByText('expected', { exact: true }).waitFor();
  await workbench.screenshot('session-graded');
});

test('rates the dialogue with a digit and a line, and turns with thumbs and remarks', async () => {
  await press('4');
  await session().getByText('4 stars, saved').waitFor();
  await session().getByRole('radio', { name: '4 stars' }).press('ArrowRight');
  await session().getByText('5 stars, saved').waitFor();
  const comment = session().getByRole('textbox', { name: 'One line about it' });
  await comment.fill('It asked for what was missing, 3 times.');
  await comment.press('Enter');
  const first = session().getByRole('group', { name: 'Your rating of turn 1', exact: true });
  await first.getByRole('button', { name: 'Good message' }).press('Enter');
  await first.getByRole('button', { name: 'Good message', pressed: true }).waitFor();
  await first.getByRole('button', { name: 'Comment on this message' }).press('Enter');
  const remark = session().getByRole('textbox', { name: 'Your comment on turn 1' });
  await remark.fill('The right thing to ask first.');
  await remark.press('Enter');
  await session().getByText('The right thing to ask first.').waitFor();
  await first.getByRole('button', { name: 'Change the comment on this message' }).waitFor();
});

test.each(['light', 'dark', 'hc-dark', 'hc-light'] as const)(
  'looks as the workbench does and is readable by everybody, theme %s',
  async (theme) => {
    await workbench.setTheme(theme);
    await workbench.screenshot(`session-graded-${theme}`);
    await expectAccessible(session());
    await workbench.setSize(700, 800);
    await workbench.screenshot(`session-graded-${theme}-narrow`);
    await expectAccessible(session());
    await workbench.setSize(1280, 800);
  },
);

test('opens the transcript as Markdown from the session', async () => {
  await session().getByRole('button', { name: 'transcript' }).press('Enter');
  await workbench.page.getByRole('tab', { name: /parcel-surcharge\.transcript\.md/ }).waitFor();
});

test('compares the answer with the reference in a native diff', async () => {
  await session().getByRole('button', { name: 'Compare with the reference' }).click();
  await workbench.page.getByRole('tab', { name: /Parcel surcharge: answer/ }).waitFor();
});

test('finds the dialogue in the trajectories and in the log', async () => {
  const trajectory = workbench.page.getByRole('treeitem', { name: /Parcel surcharge, \d+\/10 tests, agent/ });
  await trajectory.first().waitFor();
  const events = await loggedEvents();
  expect(events.find((event) => event.event === 'consent')).toMatchObject({ pseudonym: 'ada' });
  const kinds = events.map((event) => event.event);
  expect(kinds.indexOf('consent')).toBeLessThan(kinds.indexOf('episode-started'));
  expect(kinds.filter((kind) => kind === 'agent-turn')).toHaveLength(10);
  expect(kinds.filter((kind) => kind === 'turn-superseded')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'hand-over')).toHaveLength(2);
  expect(kinds).toContain('grade');
  const replies = events.filter((event) => event.event === 'reply');
  expect(replies.map(({ text, by }) => (by === 'ada' ? text : by))).toEqual([
    'Above 20 kilograms.',
    '4.50 euros.',
    'Then it gives minus one',
    expect.stringMatching(/ Sure\.$/),
    expect.stringMatching(/^I have no preference/),
    expect.stringMatching(/^Use \{1: 5/),
    'rules',
    'rules',
  ]);
  expect(replies[3]).toMatchObject({ author: 'developer-edited-suggestion', suggestedBy: 'rules' });
  expect(events.findLast((event) => event.event === 'rating')).toMatchObject({
    ...{ stars: 5, comment: 'It asked for what was missing, 3 times.', by: 'ada' },
  });
  expect(events.findLast((event) => event.event === 'turn-rating')).toMatchObject({
    ...{ turn: 1, thumb: 'up', comment: 'The right thing to ask first.', by: 'ada' },
  });
});

test('goes on to the next task with Enter, and ends that one with what the agent has said', async () => {
  // The open panel is reused, and no second one is opened.
  await openRow(
    workbench.page.getByRole('treeitem', { name: /, new$/ }).first(),
    session().getByRole('button', { name: /\bstart\b/i }),
  );
  // The reference of the task opens a moment later.
  await workbench.page.getByRole('tab', { name: /^(?!parcel-surcharge)\S+\.reference\.py/ }).waitFor();
  const open = await workbench.page.getByRole('tab').count();
  await workbench.page.getByRole('tab', { name: /^Parcel surcharge(,|$)/ }).click();
  await session().getByRole('button', { name: 'Next task' }).press('Enter');
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .waitFor();
  await expect.poll(() => workbench.page.getByRole('tab').count()).toBe(open);
  await expectAccessible(session());
  await configure({ 'tandem.agent': '' });
  await session().getByRole('button', { name: 'Choose the agent…' }).waitFor();
  await expectAccessible(session());
  await configure({});
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .press('Enter');
  await composer().waitFor();
  await session().getByRole('button', { name: 'End now' }).press('Enter');
  await workbench.page.getByRole('button', { name: 'End and Grade' }).click();
  await session().getByRole('heading', { name: 'The reply has no code, so that no test can pass' }).waitFor();
  await workbench.screenshot('session-no-code');
});

test('skips a task with a reason and takes it up again', async () => {
  await session().getByRole('button', { name: 'Next task' }).press('Enter');
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .press('Enter');
  await composer().waitFor();
  await session().getByRole('button', { name: 'Skip…' }).press('Enter');
  await workbench.quickInput.pick('The request is unclear');
  await session().getByText('This task was skipped: The request is unclear').waitFor();
  await expectAccessible(session());
  await session().getByRole('button', { name: 'Resume' }).press('Enter');
  await composer().waitFor();
});

test('plays a dialogue from the view to the next task by keyboard alone', async () => {
  const { keyboard } = workbench.page;
  const tasks = workbench.page.getByRole('tree', { name: 'Tasks' });
  const focused = tasks.locator('.monaco-list-row.focused');
  turns = [turns[0]!, turns.at(-1)!];
  await press('F1');
  await workbench.quickInput.widget.locator('input.input:focus').waitFor();
  await keyboard.type('Tandem: Focus on Tasks View');
  await workbench.quickInput.widget
    .locator('.monaco-list-row.focused', { hasText: 'Tandem: Focus on Tasks View' })
    .waitFor();
  await press('Enter');
  await tasks.and(workbench.page.locator(':focus')).waitFor();
  await press('Home');
  do await press('ArrowDown');
  while ((await focused.getAttribute('aria-label'))?.endsWith(', new') !== true);
  await press('Enter');
  await session().locator('#primary:focus', { hasText: 'Start' }).waitFor();
  await press('Enter');
  await session().locator('#reply:focus').waitFor();
  await keyboard.type('Whatever you think is best.');
  await press('Alt+g');
  await session().getByRole('button', { name: 'Good message', pressed: true }).waitFor();
  await press('Enter');
  await session()
    .getByRole('heading', { name: /\d of \d+ tests passed/ })
    .waitFor();
  await press('3');
  await session().getByText('3 stars, saved').waitFor();
  await session().locator('#primary:focus', { hasText: 'Next task' }).waitFor();
  await press('Enter');
  await session().locator('#primary:focus', { hasText: 'Start' }).waitFor();
});
