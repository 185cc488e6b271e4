import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from '../../childEnvironment';
import { Fault } from '../../fault';
import { startLeashed } from '../../leash';

export interface InstallOptions {
  readonly signal?: AbortSignal;
  /** Receives the output, a line at a time. */
  readonly onLine?: (line: string) => void;
  /** All of the output is appended to this file. */
  readonly log: string;
}

/** Number of lines that the fault shows when a command fails. */
const TAIL_LINES = 12;
/** Lines that pip prints for every package; none of them explains a failure. */
const ROUTINE = /^(Ignoring|Looking in indexes:|Collecting|\s+(Downloading|Using cached)) /;

/**
 * Runs a command that makes an environment. It ends with this process and with the signal, together with its children.
 * @throws {Fault} `training/not-installed` with the end of the output
 * @throws the signal's reason when it is aborted
 */
export async function runInstaller(command: readonly string[], options: InstallOptions): Promise<void> {
  const { signal, onLine, log } = options;
  signal?.throwIfAborted();
  const output = await open(log, 'a');
  const { child, forget } = startLeashed(command, {
    // The caller's own Python variables would be applied to the new environment.
    env: {
      ...childEnvironment('python', 'network', 'installing'),
      ...{ PYTHONPATH: undefined, PYTHONHOME: undefined, VIRTUAL_ENV: undefined },
    },
    signal,
  });
  const tail: string[] = [];
  const said: Promise<void>[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      if (!ROUTINE.test(line)) tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
      said.push(output.appendFile(`${line}\n`));
      onLine?.(line);
    });
  }
  try {
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (error) =>
        reject(notInstalled(command, `could not be started: ${error.message}`, [], log)),
      );
      child.once('close', resolve);
    });
    signal?.throwIfAborted();
    if (status !== 0) throw notInstalled(command, `ended with status ${status}`, tail, log);
  } finally {
    forget();
    await Promise.allSettled(said);
    await output.close();
  }
}

function notInstalled(command: readonly string[], how: string, tail: readonly string[], log: string): Fault {
  const line = [basename(command[0]!), ...command.slice(1)].join(' ');
  const shown = tail.map((text) => `\n  ${text}`).join('');
  const message = `The trainer's environment could not be made: \`${line}\` ${how}. Fix what it names and try again; all of its output is in ${log}.${shown}`;
  return new Fault('training/not-installed', message);
}
