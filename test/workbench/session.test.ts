import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { LogEvent } from '../../src/core/trajectory/event';
import { startWorkbench, type WorkbenchDriver } from './driver';

const says = (text: string): string => `I wonder.\n\nOUTPUT:\n${text}`;
/** Wrong for parcels of more than 20 kg in two zones, so that the table has something to show. */
const answer = `def parcel_price(weight_kg, zone):
    base = {1: 5, 2: 8, 3: 12}.get(zone, -1)
    return base + 4.5 if weight_kg > 20 and zone == 1 else base`;

/** Slow enough that a person can step in while it writes. */
const script = {
  delayMilliseconds: 250,
  turns: [
    says('At how many kilograms does a parcel count as **heavy**?'),
    says('How big is the supplement?'),
    says('What should come out for a zone that does not exist?'),
    says('Does the supplement depend on the zone?'),
    says('Is there anything else that I should know?'),
    says(`I WANT TO ANSWER:\n\`\`\`python\n${answer}\n\`\`\``),
  ],
};

let workspace: string;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const composer = () => session().getByRole('textbox', { name: 'Your reply to the agent' });

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-session-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  // The tree draws only the rows that fit: the tasks of this test should come first.
  await rm(path.join(workspace, 'starter-world.jsonl'));
  await writeFile(path.join(workspace, 'agents', 'slow.json'), JSON.stringify(script));
  await writeFile(
    path.join(workspace, '.vscode', 'settings.json'),
    JSON.stringify({ 'tandem.agent': 'script:agents/slow.json', 'tandem.simulator': 'rules' }),
  );
  workbench = await startWorkbench({ extension: root, workspace });
  // A step of one dialogue that fails makes all later ones fail: they should not each wait for minutes.
  workbench.page.setDefaultTimeout(60_000);
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

/** What the log of the workspace holds, line by line. */
async function loggedEvents(): Promise<LogEvent[]> {
  const folder = path.join(workspace, '.tandem', 'log');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as LogEvent);
}

test('a developer opens a task and agrees to be logged under a pseudonym', async () => {
  await workbench.activityBar('Tandem').click();
  await workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }).click();
  await session().getByRole('heading', { name: 'Parcel surcharge' }).waitFor();
  await workbench.page.getByRole('tab', { name: /parcel-surcharge\.reference\.py/ }).waitFor();
  await session().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await workbench.screenshot('session-consent');
  await session().getByRole('button', { name: 'Agree and start' }).click();
});

test('types replies to the agent, which streams its messages', async () => {
  await composer().fill('Above 20 kilograms.');
  await composer().press('Enter');
  await session().locator('tandem-stream').getByText('agent').waitFor();
  await session().getByText('turn 2 of 10').waitFor();
  await session().getByText('Above 20 kilograms.').waitFor();
  await composer().waitFor();
});

test('stops the agent with Escape and asks again with Enter', async () => {
  await composer().fill('4.50 euros.');
  await composer().press('Enter');
  await session().getByRole('button', { name: 'Stop' }).waitFor();
  await workbench.page.keyboard.press('Escape');
  await session().getByText('You stopped the agent.').waitFor();
  await session().getByRole('button', { name: 'Ask again' }).press('Enter');
  await session().getByText('a zone that does not exist').waitFor();
});

test('reloads the window in the middle of a reply and goes on with the same words', async () => {
  await composer().fill('Then it gives minus one');
  await workbench.page.waitForTimeout(500);
  await workbench.reload();
  await composer().waitFor();
  expect(await composer().inputValue()).toBe('Then it gives minus one');
  await session().getByText('Above 20 kilograms.').waitFor();
  await workbench.screenshot('session-reloaded');
  await composer().press('Enter');
  await session().getByText('depend on the zone').waitFor();
});

test('hands over to the simulator and takes the seat back while it plays', async () => {
  await composer().waitFor();
  await session().getByRole('button', { name: 'from here on' }).click();
  await session().getByRole('button', { name: 'Take the seat back' }).click();
  await session().getByText('you are the human').waitFor();
  await session().getByText('anything else').waitFor();
  await workbench.screenshot('session-seat-taken');
});

test('lets the simulator answer one turn and sees the table of tests', async () => {
  await session().getByRole('button', { name: 'Let the simulator answer' }).click();
  await session()
    .getByRole('heading', { name: /\d of 10 tests passed/ })
    .waitFor();
  const table = session().getByRole('table');
  expect(await table.getByRole('button', { name: /details/ }).count()).toBe(10);
  expect(await table.getByRole('button', { expanded: true }).count()).toBe(1);
  await session().getByText('expected', { exact: true }).waitFor();
  await workbench.screenshot('session-graded');
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
  expect(kinds.filter((kind) => kind === 'agent-turn')).toHaveLength(6);
  expect(kinds.filter((kind) => kind === 'hand-over')).toHaveLength(2);
  expect(kinds).toContain('grade');
  const replies = events.filter((event) => event.event === 'reply');
  expect(replies.map(({ text, by }) => (by === 'ada' ? text : by))).toEqual([
    'Above 20 kilograms.',
    '4.50 euros.',
    'Then it gives minus one',
    'rules',
    'rules',
  ]);
});
