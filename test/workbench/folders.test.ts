import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import type { WorkbenchDriver } from './driver';
import { chooseInMenu, openRow } from './rows';
import { insisting } from './retries';
import { startWorkbench } from './launch';

const names = ['alpha', 'beta'] as const;

const row = (name: string): string =>
  JSON.stringify({
    // Both tasks have this id, so that only the folder distinguishes them.
    id: 'same-task',
    problem_description: `What ${name} wants. def f(x)`,
    ground_truth: 'def f(x):\n    return 2 * x',
    test_cases: { test1: 'f(1)' },
  });

let folder: string;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tasks = () => workbench.page.getByRole('tree', { name: 'Tasks' });
const trajectories = () => workbench.page.getByRole('tree', { name: 'Dialogues' });
/** Finds the head of the list, which names the folder of the log. */
const headOf = (folder: string) =>
  workbench.page.locator('.pane-header', { hasText: new RegExp(`^Dialogues${folder}`) });

/** Creates a folder with a pack of the same name, and an agent under a path relative to the folder. */
async function makeFolder(name: string): Promise<void> {
  const agent = { turns: [`OUTPUT:\nA question for ${name}?`] };
  await mkdir(path.join(folder, name, '.vscode'), { recursive: true });
  await mkdir(path.join(folder, name, 'agents'));
  await writeFile(path.join(folder, name, 'parcels.jsonl'), `${row(name)}\n`);
  await writeFile(path.join(folder, name, 'agents', 'asks.json'), JSON.stringify(agent));
  const settings = { 'tandem.agent': 'script:agents/asks.json', 'tandem.dataFolder': `log of ${name}` };
  await writeFile(path.join(folder, name, '.vscode', 'settings.json'), JSON.stringify(settings));
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-folders-'));
  for (const name of names) await makeFolder(name);
  const workspace = path.join(folder, 'both.code-workspace');
  await writeFile(workspace, JSON.stringify({ folders: names.map((name) => ({ path: name })) }));
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await rm(folder, { recursive: true, force: true });
});

test('the packs of every folder are listed, and say which folder where their names collide', async () => {
  await workbench.showTandem();
  await tasks()
    .getByRole('treeitem', { name: /^parcels, alpha, 1 task/ })
    .waitFor();
  await tasks()
    .getByRole('treeitem', { name: /^parcels, beta, 1 task/ })
    .waitFor();
});

test('a task of the second folder is played with its agent and logged in its data folder', async () => {
  await openRow(
    tasks()
      .getByRole('treeitem', { name: /^Same task, new$/ })
      .nth(1),
    session().getByText('What beta wants.'),
  );
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await session().getByText('A question for beta?').waitFor();
  const log = path.join(folder, 'beta', 'log of beta', 'log');
  const logged = async (): Promise<string> => {
    const [segment] = (await readdir(log)).filter((name) => name.endsWith('.jsonl'));
    return readFile(path.join(log, segment!), 'utf8');
  };
  // A message is shown while it arrives, and logged when it is whole.
  await expect.poll(logged).toMatch(/"event":"agent-turn"/);
  expect(existsSync(path.join(folder, 'alpha', 'log of alpha', 'log'))).toBe(false);
});

test('the same task of the other folder is new still', async () => {
  await tasks()
    .getByRole('treeitem', { name: /^Same task, draft/ })
    .waitFor();
  await tasks()
    .getByRole('treeitem', { name: /^Same task, new$/ })
    .waitFor();
});

test('the views show the log of the first folder, until the other one is chosen', async () => {
  await headOf('alpha').waitFor();
  await expect.poll(() => trajectories().getByRole('treeitem').count()).toBe(0);
  // The session may still move the focus to its composer, which closes the list of logs.
  await insisting(async (options) => {
    await workbench.runCommand('Tandem: Switch Log…');
    await workbench.quickInput.listed('0 dialogues').waitFor(options);
  });
  await workbench.quickInput.pick(/1 dialogue(?!s)/);
  await trajectories()
    .getByRole('treeitem', { name: /^Same task, in progress/ })
    .waitFor();
  await headOf('beta').waitFor();
});

test('a dialogue of the other log is read, and the choice outlives a reload', async () => {
  const dialogue = trajectories().getByRole('treeitem', { name: /^Same task, in progress/ });
  await chooseInMenu(
    dialogue,
    'Open Dialogue as Markdown',
    workbench.page.getByText('A question for beta?').first(),
  );
  await workbench.reload();
  await headOf('beta').waitFor();
  await trajectories()
    .getByRole('treeitem', { name: /^Same task, in progress/ })
    .waitFor();
});

test('all that a person said goes from the data folders of both', async () => {
  await workbench.runCommand('Tandem: Delete My Data…');
  await workbench.quickInput.pick('you, alpha: 0 dialogues, beta: 1 dialogue');
  const dialog = workbench.page.getByRole('dialog', { name: /Delete everything of developer-/ });
  await dialog.getByText('1 dialogue (alpha: 0 dialogues, beta: 1 dialogue)', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await workbench.notification(
    /All data of developer-.* has been deleted from .*alpha: 0 dialogues; .*beta: 1 dialogue\./,
  );
});
