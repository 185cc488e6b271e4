import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { results } from '../../scripts/setup/project.mjs';
import { launchBrowser } from '../../scripts/workbench/browser.mjs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { startServing, type ServingProcess } from '../fixtures/serving';
import { expectAccessible } from './accessibility';
import { forPeople } from './themes';

const world = path.resolve('samples/workspace/starter-world.jsonl');

let folder: string;
let server: ServingProcess;
let link: string;
let browser: Browser;
let page: Page;
/** Addresses of all requests. */
const asked: string[] = [];
/** What the security policy of the page refused. */
const refused: string[] = [];

const play = (port = '0', ...more: readonly string[]): Promise<ServingProcess> =>
  startServing(
    [
      ...['--play', '--tasks', world, '--limit', '1', '--jobs', '1', '--temperature', '0'],
      ...['--data', path.join(folder, '.tandem'), '--port', port, ...more],
    ],
    { TANDEM_SERVE_TOKEN: 'a-token-of-the-story' },
  );

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-seat-'));
  server = await play();
  link = `${server.url}/#a-token-of-the-story`;
  browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
  page = await context.newPage();
  page.on('request', (request) => asked.push(request.url().split('#', 1)[0]!));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) refused.push(message.text());
  });
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const looks = {
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  light: { colorScheme: 'light', forcedColors: 'none' },
  contrast: { colorScheme: 'dark', forcedColors: 'active' },
} as const;

/** Checks the page in each look and at the width of a phone, and takes its pictures for people. */
async function accessible(name: string, at: Page = page): Promise<void> {
  for (const [look, media] of Object.entries(looks)) {
    await at.emulateMedia(media);
    await picture(`${name}-${look}`, at);
    // In high contrast the system's colors are drawn, which axe does not know.
    if (look !== 'contrast') await expectAccessible(at, { message: `${name}, ${look}` });
  }
  await at.emulateMedia(looks.light);
  await at.setViewportSize({ width: 400, height: 800 });
  await picture(`${name}-narrow`, at);
  await expectAccessible(at, { message: `${name}, narrow` });
  const overflow = await at.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(overflow, 'nothing is wider than the page').toBeLessThanOrEqual(0);
  await at.setViewportSize({ width: 1280, height: 800 });
  await at.emulateMedia(looks.dark);
}

async function picture(name: string, at: Page): Promise<void> {
  if (forPeople) await at.screenshot({ path: path.join(results, 'pictures', `seat-${name}.png`) });
}

const reply = () => page.getByRole('textbox', { name: 'Your reply to the agent' });

test('refuses a link that is not valid any more in one sentence', async () => {
  await page.goto(`${server.url}/#another`);
  await page.getByRole('alert').getByText('This link is not valid any more.').waitFor();
  await accessible('refused');
});

test('asks for consent before it shows a task, and takes the token out of the address', async () => {
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByText('Before your first reply').waitFor();
  expect(page.url()).toBe(`${server.url}/`);
  await accessible('consent');
  await page.getByRole('textbox', { name: 'Pseudonym' }).fill('kim');
  await page.getByRole('button', { name: 'Agree and start' }).click();
  await reply().waitFor();
  await page.getByRole('complementary', { name: 'Reference' }).getByText('return').first().waitFor();
  await accessible('question');
});

test('holds back a reply that gives the reference away', async () => {
  const reference = await page.locator('aside pre').first().innerText();
  await reply().fill(reference.split('\n').slice(1).join(' ').slice(0, 380));
  await reply().press('Enter');
  await page.getByRole('alert').getByText('Not sent yet').waitFor();
  await accessible('leak');
  await page.getByRole('button', { name: 'Edit' }).click();
  await reply().fill('I have no preference, do what');
});

test('keeps the dialogue and the text when the page is loaded again, or opened in a second tab', async () => {
  const question = await page.locator('.from-agent .said').first().innerText();
  await page.reload();
  await expect.poll(() => reply().inputValue()).toBe('I have no preference, do what');
  expect(await page.locator('.from-agent .said').first().innerText()).toBe(question);
  const other = await page.context().newPage();
  await other.goto(link);
  await other.locator('.from-agent').first().waitFor();
  await reply().fill('I have no preference, do what you think is best.');
  await reply().press('Control+Enter');
  await other.getByText('do what you think is best.').waitFor();
  await other.close();
});

test('says that the server has stopped, and goes on when it is started again', async () => {
  await reply().or(page.locator('#primary')).waitFor();
  const port = new URL(server.url).port;
  await server.stop();
  await page.getByRole('alert').getByText('The server does not answer.').waitFor();
  await accessible('stopped');
  server = await play(port);
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

/** Pixels of the newest message that are below the transcript. */
const hidden = () =>
  page.evaluate<number>(
    `document.querySelector('[role=log]').lastElementChild.getBoundingClientRect().bottom -
      document.querySelector('main').getBoundingClientRect().bottom`,
  );

test('plays to the grade, and then has no task left', async () => {
  await page.setViewportSize({ width: 400, height: 500 });
  for (let turn = 2; turn <= 10; turn++) {
    const next = await Promise.race([
      reply()
        .waitFor()
        .then(() => 'reply' as const),
      page
        .locator('tandem-grade')
        .waitFor()
        .then(() => 'grade' as const),
    ]);
    if (next === 'grade') break;
    const lines = [
      'I have to think:',
      'there are cases for both.',
      'No preference there,',
      `you decide. (${turn})`,
    ];
    await reply().fill(lines.join('\n'));
    await expect.poll(hidden, { message: 'a long reply hides no question' }).toBeLessThanOrEqual(0);
    if (turn === 3) await picture('long-reply', page);
    await reply().press('Enter');
    await page.getByText(`you decide. (${turn})`).first().waitFor();
    await reply().or(page.locator('tandem-grade')).first().waitFor();
  }
  await page.locator('tandem-grade').waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await accessible('grade');
  await page.getByRole('button', { name: 'Next task' }).click();
  await page.getByText('All tasks are done').waitFor();
  await accessible('done');
  expect(refused).toEqual([]);
  expect(asked.filter((address) => address.includes('a-token'))).toEqual([]);

  await server.stop();
  const log = await TrajectoryLog.open(path.join(folder, '.tandem'));
  const { rows, total } = log.list({ offset: 0, limit: 10 });
  expect(total).toBe(1);
  expect(rows[0]).toMatchObject({ player: 'kim', state: 'answered', agent: 'starter' });
  expect(log.consents).toMatchObject([{ pseudonym: 'kim', level: 'local' }]);
  await log.close();
});

test('two people play a dialogue, each in a page of their own', async () => {
  server = await play('0', '--agent', 'person', '--data', path.join(folder, 'pair'));
  const agentLink = (): string | undefined => /http:\S+\/agent#\S+/.exec(server.said.join('\n'))?.[0];
  await expect.poll(agentLink).toBeDefined();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
  const agent = await context.newPage();
  await agent.goto(agentLink()!);
  await agent.getByText('Before your first question').waitFor();
  await accessible('agent-consent', agent);
  await agent.getByRole('textbox', { name: 'Pseudonym' }).fill('lee');
  await agent.getByRole('button', { name: 'Agree and start' }).click();
  await agent.getByText('No request is waiting').waitFor();
  await accessible('agent-waiting', agent);

  await page.goto('about:blank');
  await page.goto(`${server.url}/#a-token-of-the-story`);
  await page.getByRole('textbox', { name: 'Pseudonym' }).fill('kim');
  await page.getByRole('button', { name: 'Agree and start' }).click();
  const question = agent.getByRole('textbox', { name: 'Your question' });
  await question.fill('What counts as heavy?');
  await agent.reload();
  await expect.poll(() => question.inputValue()).toBe('What counts as heavy?');
  await accessible('agent-question', agent);
  await question.press('Enter');
  await reply().fill('You decide, I have no preference.');
  await accessible('agent-asked');
  await accessible('agent-waits-for-reply', agent);
  await reply().press('Enter');
  await agent.getByText('I have no preference.').waitFor();
  await agent.getByRole('button', { name: 'Write the answer' }).click();
  const answer = agent.getByRole('textbox', { name: 'Your answer: the whole function, in Python' });
  await answer.fill('def nothing():\n    return None');
  await accessible('agent-answer', agent);
  expect(await agent.content()).not.toContain('<aside');
  await answer.press('Control+Enter');
  await agent.locator('tandem-grade').waitFor();
  await accessible('agent-grade', agent);
  await page.locator('tandem-grade').waitFor();
  await agent.getByRole('button', { name: 'Next request' }).click();
  await agent.getByText('No request is waiting').waitFor();
  await context.close();
});
