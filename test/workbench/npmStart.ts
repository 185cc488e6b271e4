import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { pageHost } from '../../scripts/workbench/browser.mjs';
import { testEnvironment } from '../../scripts/workbench/server.mjs';
import type { WorkbenchDriver } from './driver';
import { showWorkbench } from './launch';
import { processes, signal } from '../fixtures/processes';

export interface ByNpm {
  readonly workbench: WorkbenchDriver;
  readonly pressCtrlC: () => Promise<void>;
  /** Time at which the address was printed, by `performance.now()`. */
  readonly addressAt: number;
}

/**
 * Runs the command of the README in a clone, and opens the address that it prints.
 * @param started resources to release with the workbench
 * @param environment variables of the command besides those of the tests
 */
export async function startByNpm(
  clone: string,
  started: AsyncDisposableStack,
  environment: Readonly<Record<string, string>> = {},
): Promise<ByNpm> {
  await using stack = started;
  const command = spawn('npm', ['start', '--', '--browser', '--port', '0'], {
    cwd: clone,
    env: { ...process.env, ...testEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A terminal runs each command as a process group, which receives Ctrl+C.
    detached: true,
  });
  const ended = once(command, 'exit').then(() => undefined);
  const pressCtrlC = async (): Promise<void> => {
    const hasEnded = command.exitCode !== null || command.signalCode !== null;
    if (command.pid !== undefined && !hasEnded) signal(-command.pid, 'SIGINT');
    await ended;
  };
  stack.defer(pressCtrlC);

  const said = await linesUntil(command.stdout, 'Ctrl+C ends Tandem');
  const addressAt = performance.now();
  const [address = '', port = ''] = /http:\/\/127\.0\.0\.1:(\d+)\/\S+/.exec(said) ?? [];
  const [group = 0] = await groupsOf(clone);
  const server = { port: Number(port), group, ended, stop: pressCtrlC };
  const userData = path.join(clone, '.sample', 'user-data');
  const here = address.replace(`127.0.0.1:${port}`, pageHost);
  const workbench = await showWorkbench({ server, userData }, here, stack.move());
  await workbench.page.emulateMedia({ reducedMotion: 'reduce' });
  return { workbench, pressCtrlC, addressAt };
}

/** @throws Error with the output, when it ends before the expected last line */
async function linesUntil(output: Readable, last: string): Promise<string> {
  let said = '';
  for await (const line of createInterface(output)) {
    said += `${line}\n`;
    if (line.includes(last)) return said;
  }
  throw new Error(`npm start ended:\n${said}`);
}

/** Returns the process groups with the folder in a command line. */
export async function groupsOf(folder: string): Promise<number[]> {
  return (await processes()).filter(({ args }) => args.includes(folder)).map(({ group }) => group);
}
