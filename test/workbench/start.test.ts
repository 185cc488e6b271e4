import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { testEnvironment } from '../../scripts/workbench/server.mjs';
import { pageHost } from '../../scripts/workbench/browser.mjs';
import type { WorkbenchDriver } from './driver';
import { showWorkbench } from './launch';
import { processes } from './processes';

/** A fresh clone has none of these. */
const made = new Set(['.git', '.sample', 'dist', 'node_modules', 'packages', 'test-results']);

let clone: string;
let workbench: WorkbenchDriver;
let pressCtrlC: () => Promise<void>;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');

/** Somebody types the command of the README in a fresh clone that has its packages. */
beforeAll(async () => {
  await using started = new AsyncDisposableStack();
  clone = await mkdtemp(path.join(os.tmpdir(), 'tandem-clone-'));
  started.defer(() => rm(clone, { recursive: true, force: true, maxRetries: 5 }));
  await cp(root, clone, { recursive: true, filter: (from) => !made.has(path.relative(root, from)) });
  await symlink(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
  const command = spawn('npm', ['start', '--', '--browser', '--port', '0'], {
    cwd: clone,
    env: { ...process.env, ...testEnvironment },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A terminal runs each command as a process group, to which Ctrl+C goes.
    detached: true,
  });
  const ended = once(command, 'exit').then(() => undefined);
  const stop = async (): Promise<void> => {
    const hasEnded = command.exitCode !== null || command.signalCode !== null;
    if (command.pid !== undefined && !hasEnded) process.kill(-command.pid, 'SIGINT');
    await ended;
  };
  started.defer(stop);
  pressCtrlC = stop;

  const said = await linesUntil(command.stdout, 'Ctrl+C ends Tandem');
  const [address = '', port = ''] = /http:\/\/127\.0\.0\.1:(\d+)\/\S+/.exec(said) ?? [];
  const [group = 0] = await groupsOf(clone);
  workbench = await showWorkbench(
    {
      server: { port: Number(port), group, ended, stop },
      userData: path.join(clone, '.sample', 'user-data'),
    },
    address.replace(`127.0.0.1:${port}`, pageHost),
    started.move(),
  );
  await workbench.page.emulateMedia({ reducedMotion: 'reduce' });
});

afterAll(() => workbench.close());

/** @throws Error with what was said, when it ends before the last words */
async function linesUntil(output: Readable, last: string): Promise<string> {
  let said = '';
  for await (const line of createInterface(output)) {
    said += `${line}\n`;
    if (line.includes(last)) return said;
  }
  throw new Error(`npm start ended:\n${said}`);
}

/** The process groups of what has the folder in its command line. */
async function groupsOf(folder: string): Promise<number[]> {
  return (await processes()).filter(({ args }) => args.includes(folder)).map(({ group }) => group);
}

test('finds the words of welcome, and plays the first task to its grade', async () => {
  await workbench.page.getByRole('tab', { name: /README\.md/ }).waitFor();
  await workbench.activityBar('Tandem').click();
  const tasks = workbench.page.getByRole('tree', { name: 'Tasks' });
  await tasks
    .getByRole('treeitem', { name: /, new$/ })
    .first()
    .click();
  await session().getByRole('button', { name: 'Agree and start' }).click();
  const composer = session().getByRole('textbox', { name: 'Your reply to the agent' });
  const graded = session().getByRole('heading', { name: /\d+ of 10 tests passed/ });
  await composer.or(graded).first().waitFor();
  if (await composer.isVisible()) await session().getByRole('button', { name: 'from here on' }).click();
  await graded.waitFor();
});

test('is told over the window what came of collected dialogues, and goes on from there', async () => {
  const pack = workbench.page.getByRole('treeitem', { name: /^starter-world, 24 tasks/ });
  await workbench.chooseInMenu(pack, 'Collect Dialogues…');
  const question = workbench.page.locator('.quick-input-widget');
  for (const words of ['How many of its 24 tasks?', 'How many dialogues of each']) {
    await question.getByText(words).waitFor();
    await question.getByRole('textbox').fill('1');
    await workbench.page.keyboard.press('Enter');
    await question.getByText(words).waitFor({ state: 'hidden' });
  }
  const toast = workbench.page.locator('.notifications-toasts .notification-toast');
  const told = toast.filter({ hasText: 'Played and graded: 1 dialogue of starter-world.' });
  // It goes by itself after ten seconds, but not while the pointer is over it.
  await told.hover();
  await workbench.screenshot('start-notification');
  await told.getByRole('button', { name: 'New Run…' }).click();
  await workbench.page.getByRole('tab', { name: 'New Run' }).waitFor();
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
  expect(await groupsOf(clone)).toEqual([]);
});
