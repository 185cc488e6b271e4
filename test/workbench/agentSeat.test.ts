import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { deriveSeed } from '../../src/core/seed';
import { root } from '../../scripts/setup/project.mjs';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { chooseInMenu } from './rows';

let workspace: string;
let workbench: WorkbenchDriver;
const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-seat-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  const settings = { 'tandem.agent': 'starter', 'tandem.simulator': 'rules' };
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

const logged = async (): Promise<string> => {
  const folder = path.join(workspace, '.tandem', 'log');
  const names = await readdir(folder);
  return (await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')))).join('\n');
};

test('plays as the agent, who asks, answers with code and sees the reference only then', async () => {
  await workbench.showTandem();
  const task = workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ });
  await chooseInMenu(task, 'Play as Agent…');
  await session().getByRole('textbox', { name: 'Pseudonym' }).fill('ada');
  await session().getByRole('button', { name: 'Agree and start' }).click();
  const question = session().getByRole('textbox', { name: 'Your question' });
  await question.fill('At how many kilograms does a parcel count as heavy?');
  await accessiblePictures(workbench, session(), 'seat-asks');
  await question.press('Enter');
  await session().getByText('20').first().waitFor();
  expect(await session().locator('body').innerText()).not.toContain('return');
  expect(await workbench.page.getByRole('tab', { name: /reference/ }).count()).toBe(0);
  await session().getByRole('button', { name: 'Write the answer' }).click();
  const answer = session().getByRole('textbox', { name: 'Your answer: the whole function, in Python' });
  await expect.poll(() => answer.inputValue()).toBe('def parcel_price(weight_kg, zone):\n    ');
  await answer.fill('def parcel_price(weight_kg, zone):\n    return 5');
  await accessiblePictures(workbench, session(), 'seat-answers');
  await workbench.setSize(400, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.screenshot('seat-answers-400');
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);
  await answer.press('Control+Enter');
  await session()
    .getByText(/\d+ of \d+ tests|\d+\/\d+ tests/)
    .first()
    .waitFor();
  await accessiblePictures(workbench, session(), 'seat-graded');
  expect(await logged()).toContain('"agent":"person"');
});

test('continues the dialogue from its first message, by another agent and with a chosen seed', async () => {
  const from = session().getByRole('button', { name: 'Continue from here…' }).first();
  await from.focus();
  await accessiblePictures(workbench, session(), 'seat-fork');
  await from.click();
  await workbench.pictures('seat-fork-who');
  await workbench.quickInput.pick('Choose a seed…');
  await workbench.quickInput.answer('Seed of what is drawn from here on', '7');
  await workbench.quickInput.pick('Simulator');
  await workbench.page.getByRole('treeitem', { name: /fork at turn 1/ }).waitFor();
  const parent = /"parent":\{"id":"([^"]+)"/.exec(await logged())![1]!;
  expect(await logged()).toContain(`"seed":${deriveSeed(7, parent, 1, 'reply')},`);
});
