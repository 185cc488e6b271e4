import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ownTarget } from '../../scripts/package/runtime.mjs';
import { run } from '../../scripts/setup/command.mjs';
import { root } from '../../scripts/setup/project.mjs';
import { startChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { gradedHeading, type WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';

let workspace: string;
let vsix: string;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const composer = () => session().getByRole('textbox', { name: 'Your reply to the agent' });

/** Installs the package of `npm run package` in a workbench without other extensions, on an empty folder. */
beforeAll(async () => {
  const status = await run(process.execPath, ['scripts/package.mjs', ownTarget], { cwd: root });
  expect(status).toBe(0);
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-package-'));
  vsix = path.join(root, 'packages', `tandem-${version}-${ownTarget}.vsix`);
  workbench = await startWorkbench({ extension: { vsix }, workspace, grace: 600 });
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('who installs the package plays a dialogue to its grade, with the model and the grader that came along', async () => {
  await workbench.showTandem();
  await openRow(
    workbench.page.getByRole('button', { name: 'Play First Task' }),
    session().getByText('agent: starter'),
  );
  await session().getByRole('button', { name: 'Agree and start' }).click();
  const graded = session().getByRole('heading', { name: gradedHeading });
  await composer().or(graded).first().waitFor();
  if (await composer().isVisible()) await composer().press('Alt+Shift+A');
  await graded.waitFor();
  await workbench.openViews('Models');
  const models = workbench.page.getByRole('tree', { name: 'Models' });
  await models.getByRole('treeitem', { name: /^starter, agent, ready, [\d,.]+ tokens per second/ }).waitFor();
});

test('`vsce ls` shows the files of the package', async () => {
  const list = 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep="\\n")';
  const python = process.env.TANDEM_PYTHON ?? 'python3';
  const packaged = await linesOf(python, ['-c', list, vsix]);
  const listed = await linesOf(process.execPath, ['node_modules/@vscode/vsce/vsce', 'ls']);
  const files = packaged.filter((name) => name.startsWith('extension/'));
  expect(unique(listed.map(nameInPackage))).toEqual(unique(files.map(nameInPackage)));
});

async function linesOf(command: string, args: readonly string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: root });
  return stdout.trim().split('\n');
}

/** Maps a file name to that in the package: vsce renames three files, and chunk names are content hashes. */
function nameInPackage(name: string): string {
  return name
    .replace(/^extension\//, '')
    .replace(/^(readme|changelog|license)(\.\w+)?$/i, (_, page: string) => page.toLowerCase())
    .replace(/\bchunk-\w+/, 'chunk');
}

const unique = (names: readonly string[]): string[] => [...new Set(names)].sort();

test('a connection that is lost and regained takes nothing from a dialogue: not what is begun, and not what comes meanwhile', async () => {
  const last = Promise.withResolvers<string>();
  const questions = ['From which weight on?', 'In which zones?', last.promise];
  await using agent = await startChatServer({
    reply: async ({ index }) => answer(`OUTPUT:\n${await questions[index]!}`),
  });
  await writeFile(
    path.join(workspace, '.vscode', 'settings.json'),
    JSON.stringify({ 'tandem.agent': `openai:asks@${agent.url}` }),
  );
  await session().getByRole('button', { name: 'Next task' }).click();
  await session().getByText('agent: asks').waitFor();
  await session()
    .getByRole('button', { name: /\bstart\b/i })
    .click();
  await session().getByText('From which weight on?').waitFor();
  const hosts = await workbench.extensionHosts();

  await composer().fill('From 20 ');
  workbench.loseConnection();
  await composer().press('End');
  await composer().pressSequentially('kilograms on.');
  const warning = session().getByText('The extension host does not respond');
  await warning.waitFor();
  const reconnecting = workbench.page.getByRole('dialog').getByText(/Attempting to reconnect/);
  await reconnecting.waitFor();
  workbench.regainConnection();
  await reconnecting.waitFor({ state: 'detached' });
  await warning.waitFor({ state: 'detached' });
  await expect.poll(() => composer().inputValue()).toBe('From 20 kilograms on.');
  await composer().press('Enter');
  await session().getByText('In which zones?').waitFor();

  await composer().fill('In all of them.');
  await composer().press('Enter');
  const third = await agent.request(2);
  workbench.loseConnection();
  last.resolve('Is that all?');
  expect(await third.ended).toBe('sent');
  workbench.regainConnection();
  await session().getByText('Is that all?').waitFor();
  const told = third.body.messages.map(({ content }) => content);
  expect(told.filter((text) => text.includes('From 20 kilograms on.'))).toHaveLength(1);
  // The extension host is the same; a new one would have read the dialogue from the log.
  expect(await workbench.extensionHosts()).toEqual(hosts);
});
