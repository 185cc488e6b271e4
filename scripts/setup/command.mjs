// Runs child commands of the set-up: quiet ones that write to a log, and ones that share the terminal.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { SetupFault } from './steps.mjs';

/** Number of lines of a log that are shown when its command fails. */
const tailLines = 30;

/**
 * @typedef {object} CommandOptions
 * @property {string} cwd
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * Runs a command with its output in a file, whose end is shown when the command fails.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions & {log: string, append?: boolean}} options `log` is the file for the output
 * @returns {Promise<void>}
 * @throws {SetupFault} with the end of the output and the path of the file
 */
export async function runLogged(command, args, { cwd, env = process.env, log, append = false }) {
  mkdirSync(path.dirname(log), { recursive: true });
  const output = openSync(log, append ? 'a' : 'w');
  try {
    const status = await run(command, args, {
      cwd,
      env,
      stdio: ['ignore', output, output],
      ownGroup: process.platform !== 'win32',
    });
    if (status !== 0) throw new SetupFault(failure(command, args, status, log));
  } finally {
    closeSync(output);
  }
}

/** @param {string} command @param {readonly string[]} args @param {number} status @param {string} log */
function failure(command, args, status, log) {
  const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-tailLines);
  const shown = tail.map((line) => `  ${line}`).join('\n');
  const line = [path.basename(command), ...args].join(' ');
  return `\`${line}\` ended with status ${status}. The end of its output, all of it in ${log}:\n${shown}`;
}

/**
 * Runs a command to its end; it is killed when this process ends.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions & {stdio?: import('node:child_process').StdioOptions, ownGroup?: boolean}} options the
 * terminal is shared by default; with `ownGroup` the command's own children are killed with it
 * @returns {Promise<number>} the exit status, 128 + n after signal n
 * @throws {SetupFault} when the command cannot be started
 */
export function run(command, args, { cwd, env = process.env, stdio = 'inherit', ownGroup = false }) {
  return new Promise((resolve, reject) => {
    // npm and code are batch files on Windows, which only a shell runs.
    const shell = process.platform === 'win32' && !command.endsWith('.exe');
    const child = spawn(command, shell ? args.map((arg) => `"${arg}"`) : args, {
      cwd,
      env,
      stdio,
      shell,
      detached: ownGroup,
    });
    const end = () => {
      if (!ownGroup || child.pid === undefined) child.kill('SIGTERM');
      else process.kill(-child.pid, 'SIGKILL');
    };
    // Runs before the other listeners, which remove files that the command writes.
    process.prependOnceListener('exit', end);
    child.once('error', (error) => {
      process.off('exit', end);
      reject(new SetupFault(`${command} could not be started in ${cwd}: ${error.message}.`));
    });
    child.once('close', (status, signal) => {
      process.off('exit', end);
      resolve(status ?? 128 + (signal === 'SIGINT' ? 2 : 15));
    });
  });
}
