import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { pauseBeforeEnd } from '../fixtures/chat-server-replies';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { insisting, repeatedly } from './retries';
import { openRow } from './rows';
import { usualThemes } from './themes';

const says = (text: string): string => `I wonder.\n\nOUTPUT:\n${text}`;
/** Solves a part of the tests, so that the table of tests shows both kinds. */
const answer = `def parcel_price(weight_kg, zone):
    base = {1: 5, 2: 8, 3: 12}.get(zone, -1)
    return base + 4.5 if weight_kg > 20 and zone == 1 else base`;

let turns = [
  says('At how many kilograms does a parcel count as **heavy**?'),
  says('How big is the supplement?'),
  says('How shall I round? See [the manual](https://example.org/round).\n\n```python\nround(1.5)\n```'),
  says(`I WANT TO ANSWER:\n\`\`\`python\n${answer}\n\`\`\``),
];

let workspace: string;
/** The agent, which sends its turns one by one when the test allows it. */
let agent: ChatServer;
let mayEnd: Promise<unknown> = Promise.resolve();
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

const more = () => session().getByRole('button', { name: 'More actions' });
const item = (name: string) => session().getByRole('menuitem', { name });

/** Returns the pixels from the lower edge of something to the button that agrees, which may still be laid out. */
async function spaceAboveAgree(of: Locator): Promise<number> {
  const { y, height } = (await of.boundingBox())!;
  const agree = (await session().getByRole('button', { name: 'Agree and start' }).boundingBox())!;
  return agree.y - y - height;
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-session-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  // The tree draws only the rows that fit: the tasks of this test should come first.
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  agent = await startChatServer({
    reply: ({ body }) => {
      const turn = body.messages.filter(({ role }) => role === 'assistant').length;
      return pauseBeforeEnd(turns[turn]!, mayEnd);
    },
  });
  const settings = { 'tandem.agent': `openai:slow@${agent.url}`, 'tandem.simulator': 'rules' };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await agent.close();
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

test('asks for consent in a form that fits a small window', async () => {
  await workbench.showTandem();
  // Whether this is a double click or two single ones, one session opens.
  await repeatedly(session().getByRole('heading', { name: 'Parcel surcharge' }), (options) =>
    workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }).dblclick(options),
  );
  await workbench.page.getByRole('tab', { name: /parcel-surcharge\.reference\.py/ }).waitFor();
  await expect.poll(() => workbench.page.getByRole('tab', { name: 'Parcel surcharge' }).count()).toBe(1);
  await session().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await accessiblePictures(workbench, session(), 'session-consent', usualThemes);
  const third = session().getByRole('radio').last();
  const spaceBelowRequest = (): Promise<number> =>
    session()
      .locator('main')
      .evaluate(
        (main) =>
          main.getBoundingClientRect().bottom - main.querySelector('article')!.getBoundingClientRect().bottom,
      );
  // The whole request and all three choices are visible beside a document.
  await expect.poll(() => spaceAboveAgree(third)).toBeGreaterThanOrEqual(0);
  await expect.poll(spaceBelowRequest).toBeGreaterThanOrEqual(0);
  await session().getByText('Learn more').press('Enter');
  await session().getByText('Delete My Data…').waitFor();
  await workbench.screenshot('session-consent-more');
  await session().getByText('Learn more').press('Enter');
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(400, 800);
  const roomOfRequest = (): Promise<number> =>
    session()
      .locator('main')
      .evaluate((main) => main.clientHeight);
  await expect.poll(roomOfRequest).toBeGreaterThan(130);
  await workbench.screenshot('session-consent-400');
  await workbench.setSize(1280, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(700, 520);
  const spaceAboveAgreeWhenScrolled = async (): Promise<number> => {
    await third.scrollIntoViewIfNeeded();
    return spaceAboveAgree(third);
  };
  await expect.poll(spaceAboveAgreeWhenScrolled).toBeGreaterThanOrEqual(0);
  await workbench.screenshot('session-consent-small');
  await workbench.setSize(1280, 800);
  await session().getByRole('button', { name: 'Agree and start' }).click();
});

test('leaves the focus to a document, and gives it to the composer when the person comes back', async () => {
  await session().locator('#reply:focus').waitFor();
  await composer().fill('Above 20 kilograms.');
  await whileItWrites(async () => {
    await composer().press('Enter');
    await session().locator('tandem-stream').getByText('How big is the supplement').waitFor();
    await workbench.page.locator('.editor-instance .monaco-editor').click();
  });
  await session().getByText('turn 2 of 10').waitFor();
  await composer().waitFor();
  await workbench.page.waitForTimeout(500);
  await expect.poll(() => workbench.page.locator('.editor-instance .monaco-editor.focused').count()).toBe(1);
  await workbench.page.getByRole('tab', { name: 'Parcel surcharge' }).click();
  await session().locator('#reply:focus').waitFor();
});

test('animates what is being written, unless reduced motion is wanted', async () => {
  await composer().fill('4.50 euros.');
  await whileItWrites(async () => {
    await composer().press('Enter');
    await session().locator('tandem-stream').getByText('How shall I round').waitFor();
    await expectAccessible(session());
    await expect.poll(() => moving(false)).toBeGreaterThan(0);
    await workbench.page.emulateMedia({ reducedMotion: 'reduce' });
    await expect.poll(() => moving(false)).toBe(0);
    await workbench.page.emulateMedia({ reducedMotion: 'no-preference' });
    await expect.poll(() => moving(true)).toBe(0);
  });
  await session().getByText('turn 3 of 10').waitFor();
});

test('keeps the last words while another editor is in front', async () => {
  await composer().waitFor();
  await composer().pressSequentially('Do not rou');
  await workbench.runCommand('File: New Untitled Text File');
  await composer().waitFor({ state: 'detached' });
  await workbench.page.getByRole('tab', { name: 'Parcel surcharge' }).click();
  await composer().waitFor();
  await expect.poll(() => composer().inputValue()).toBe('Do not rou');
  await composer().fill('');
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

async function toggleCounters(): Promise<void> {
  const item = workbench.page.getByRole('menuitem', { name: 'Toggle Dialogue Counters' });
  await openRow(
    workbench.page
      .locator('.editor-group-container.active .editor-actions')
      .getByRole('button', { name: 'More Actions...' }),
    item,
  );
  // A menu that has just opened ignores a press, and stays open.
  await insisting(async (options) => {
    await item.click(options);
    await item.waitFor({ state: 'hidden', ...options });
  });
}

test('hides the counters of turns and time', async () => {
  await session().getByText('turn 3 of 10').waitFor();
  await session().getByRole('timer').waitFor();
  await toggleCounters();
  await session().getByRole('timer').waitFor({ state: 'detached' });
  await expect.poll(() => session().getByText('of 10').count()).toBe(0);
  await toggleCounters();
  await session().getByRole('timer').waitFor();
});

test('lets the simulator reply to one turn, and opens the first failed test of the table', async () => {
  await more().click();
  await accessiblePictures(workbench, session(), 'session-more', usualThemes);
  await item('Let the simulator reply').click();
  await session()
    .getByRole('heading', { name: /\d of 10 tests passed/ })
    .waitFor();
  await session().getByText('Never asked: exactly at the limit, unknown zone').waitFor();
  const table = session().getByRole('table');
  await expect.poll(() => table.getByRole('button', { name: /details/ }).count()).toBe(10);
  await expect.poll(() => table.getByRole('button', { expanded: true }).count()).toBe(1);
  await session().getByText('expected', { exact: true }).waitFor();
});

test('rates the dialogue with a digit, and turns by keyboard', async () => {
  await press('4');
  await session().getByText('4 stars, saved').waitFor();
  await session().getByRole('radio', { name: '4 stars' }).press('ArrowRight');
  await session().getByText('5 stars, saved').waitFor();
  const first = session().getByRole('group', { name: 'Your rating of turn 1', exact: true });
  await first.getByRole('button', { name: 'Good message' }).press('Enter');
  await first.getByRole('button', { name: 'Good message', pressed: true }).waitFor();
  await first.getByRole('button', { name: 'Comment on this message' }).press('Enter');
  const remark = session().getByRole('textbox', { name: 'Your comment on turn 1' });
  await remark.fill('The right thing to ask first.');
  await remark.press('Enter');
  await first.getByRole('button', { name: 'Change the comment on this message' }).waitFor();
});

test.each(['light', 'dark', 'hc-dark', 'hc-light'] as const)(
  'looks as the workbench does and is readable by everybody, theme %s',
  async (theme) => {
    const grade = session().getByRole('heading', { name: /tests passed/ });
    const showGrade = (): Promise<void> =>
      grade.evaluate((heading) => {
        const { top } = heading.getBoundingClientRect();
        const main = heading.closest('main')!;
        main.scrollBy(0, top - main.getBoundingClientRect().top - 16);
      });
    await workbench.setTheme(theme);
    await showGrade();
    await workbench.screenshot(`session-graded-${theme}`);
    await expectAccessible(session());
    await workbench.setSize(700, 800);
    await showGrade();
    await workbench.screenshot(`session-graded-${theme}-narrow`);
    await expectAccessible(session());
    await workbench.setSize(1280, 800);
  },
);

test('shows the next task in the same panel, and ends it with what the agent has said', async () => {
  const open = await workbench.page.getByRole('tab').count();
  await session().getByRole('button', { name: 'Next task' }).press('Enter');
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .waitFor();
  await expectAccessible(session());
  await workbench.page.getByRole('tab', { name: /^(?!parcel-surcharge)\S+\.reference\.py/ }).waitFor();
  await expect.poll(() => workbench.page.getByRole('tab').count()).toBe(open);
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .press('Enter');
  await composer().waitFor();
  await more().press('ArrowDown');
  await expect.poll(() => item('Let the simulator reply').and(session().locator(':focus')).count()).toBe(1);
  await press('ArrowUp');
  await expect.poll(() => item('Skip…').and(session().locator(':focus')).count()).toBe(1);
  await press('Escape');
  await expect.poll(() => more().and(session().locator(':focus')).count()).toBe(1);
  await expect.poll(() => item('Skip…').count()).toBe(0);
  await press('ArrowUp');
  await press('ArrowUp');
  await expect.poll(() => item('End now').and(session().locator(':focus')).count()).toBe(1);
  await press('Enter');
  await workbench.page.getByRole('button', { name: 'End and Grade' }).click();
  await session().getByRole('heading', { name: 'The answer has no code, so no test can pass' }).waitFor();
  await workbench.screenshot('session-no-code');
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
