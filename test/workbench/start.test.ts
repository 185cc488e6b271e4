import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { gradedHeading, type WorkbenchDriver } from './driver';
import { chooseInMenu, openRow } from './rows';
import { insisting } from './retries';
import { groupsOf, startByNpm } from './npmStart';
import { processes } from '../fixtures/processes';

/** Files and folders that a fresh clone lacks. */
const made = new Set(['.git', '.sample', 'dist', 'node_modules', 'packages', 'test-results']);

let clone: string;
let workbench: WorkbenchDriver;
let pressCtrlC: () => Promise<void>;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const graded = () => session().getByRole('heading', { name: gradedHeading });
const composer = () => session().getByRole('textbox', { name: 'Your reply to the agent' });

/** Runs the command of the README in a fresh clone with installed packages. */
beforeAll(async () => {
  await using started = new AsyncDisposableStack();
  clone = await mkdtemp(path.join(os.tmpdir(), 'tandem-clone-'));
  started.defer(() => rm(clone, { recursive: true, force: true, maxRetries: 5 }));
  await cp(root, clone, { recursive: true, filter: (from) => !made.has(path.relative(root, from)) });
  await symlink(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
  ({ workbench, pressCtrlC } = await startByNpm(clone, started.move()));
});

afterAll(() => workbench.close());

test('finds the words of welcome, and starts the first task with nothing to configure', async () => {
  await workbench.page.getByRole('tab', { name: /README\.md/ }).waitFor();
  await workbench.showTandem();
  const tasks = workbench.page.getByRole('tree', { name: 'Tasks' });
  await openRow(
    tasks.getByRole('treeitem', { name: /, new$/ }).first(),
    session().getByText('agent: starter'),
  );
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await composer().or(graded()).first().waitFor();
});

test('lets the rules answer until the starter model has answered, and sees the grade', async () => {
  await workbench.screenshot('starter-session');
  if (await composer().isVisible())
    await session().getByRole('button', { name: 'Hand over to simulator' }).click();
  await graded().waitFor();
  await workbench.screenshot('starter-graded');
});

test('lets the simulator play tasks of a pack, as many as they like, and is told over the window what came of it', async () => {
  const pack = workbench.page.getByRole('treeitem', { name: /^starter-world, 24 tasks/ });
  const question = workbench.quickInput.widget;
  await chooseInMenu(pack, 'Collect Dialogues…', question.getByText('How many of its 24 tasks?'));
  await question.getByRole('textbox').fill('25');
  await question.getByText('Enter a whole number from 1 to 24.').waitFor();
  await question.getByRole('textbox').fill('2');
  await question.getByText('How many of its 24 tasks?').waitFor();
  await workbench.screenshot('starter-collect');
  await workbench.quickInput.answer('How many of its 24 tasks?');
  await workbench.quickInput.answer(/^How many dialogues per task/, '2');
  await workbench.quickInput.listed('Agent: starter').waitFor();
  await workbench.quickInput.listed('Simulator: rules').waitFor();
  await workbench.screenshot('starter-collect-play');
  const played = await workbench.toastToCome(/starter-world: 4 dialogues played, \d of 4 solved\./);
  await workbench.quickInput.pick('Play 4 dialogues');
  await played.hover();
  await workbench.screenshot('start-notification');
  await played.getByRole('button', { name: 'New Run…' }).click();
  await workbench.page.getByRole('tab', { name: 'New Run' }).waitFor();
  await workbench.runCommand('View: Close Editor');
  await chooseInMenu(
    pack,
    'Collect Dialogues…',
    question.getByText(/Already played and counted: 4 dialogues/),
  );
  await workbench.quickInput.answer(/Already played and counted: 4 dialogues/, '2');
  await workbench.quickInput.answer(/^How many dialogues per task/, '2');
  await workbench.quickInput.pick('Play 4 dialogues');
  const told = await workbench.notification(/These dialogues were already played/);
  await told.getByRole('button', { name: 'Show Trajectories' }).click();
  await workbench.page.locator('.pane-header', { hasText: '5 · ' }).waitFor();
});

test('finds the starter model ready, with its size and its speed', async () => {
  await workbench.openViews('Tasks', 'Models');
  const models = workbench.page.getByRole('tree', { name: 'Models' });
  const starter = models.getByRole('treeitem', { name: /^starter, agent/ });
  await starter.waitFor();
  await expect
    .poll(() => starter.getAttribute('aria-label'))
    .toMatch(/^starter, agent, ready, [\d,.]+ tokens per second, [\d.]+ megabytes, \w+, cpu$/);
  await models.getByRole('treeitem', { name: /Add a model folder/ }).waitFor();
});

test('finds beside it what training left here, and plays with it', async () => {
  const loops = path.join(clone, '.sample', 'workspace', '.tandem', 'loops');
  await cp(path.join(clone, 'dist', 'starter'), path.join(loops, 'quick', 'model'), { recursive: true });
  await mkdir(path.join(loops, 'stopped', 'model', 'onnx'), { recursive: true });
  await workbench.runCommand('Tandem: Refresh Views');
  const models = workbench.page.getByRole('tree', { name: 'Models' });
  await models.getByRole('treeitem', { name: /^stopped\/model, failed: .* has no config\.json/ }).waitFor();
  const trained = models.getByRole('treeitem', { name: /^quick\/model, / });
  const chosen = models.getByRole('treeitem', { name: /^quick\/model, agent, / });
  // The list is redrawn while the models of this folder are read, which loses a click.
  await insisting(async (options) => {
    if (await chosen.isVisible()) return;
    await trained.hover(options);
    await trained.getByRole('button', { name: 'Use as Agent' }).click(options);
    await chosen.waitFor(options);
  });
  await session().getByRole('button', { name: 'Next task' }).click();
  await session().getByText('agent: quick/model').waitFor();
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .click();
  await models
    .getByRole('treeitem', { name: /^quick\/model, agent, ready, [\d,.]+ tokens per second/ })
    .waitFor();
  await workbench.screenshot('starter-models');
});

test('sees a change of the manifest when the window is reloaded', async () => {
  const file = path.join(clone, 'package.nls.json');
  const sentences = await readFile(file, 'utf8');
  await writeFile(file, sentences.replace('"Choose Agent…"', '"Choose Another Agent…"'));
  await workbench.reload();
  await workbench.page.getByRole('treeitem', { name: /^starter-world/ }).waitFor();
  await workbench.runCommand('Tandem: Choose Another Agent…');
});

test('ends everything with Ctrl+C', async () => {
  expect(await workbench.extensionHosts()).not.toEqual([]);
  await pressCtrlC();
  const left = async () => (await processes()).filter(({ group }) => group === workbench.server.group);
  await expect.poll(left).toEqual([]);
  await expect.poll(() => groupsOf(clone)).toEqual([]);
});
