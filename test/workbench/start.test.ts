import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { gradedHeading, type WorkbenchDriver } from './driver';
import { openRow } from './rows';
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
