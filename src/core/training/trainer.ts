import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from '../childEnvironment';
import { Fault } from '../fault';
import { startLeashed } from '../leash';

/** A Python that can run the trainer. Made by `openTrainer`. */
export interface Trainer {
  /** The interpreter. */
  readonly python: string;
  /** The folder from which the package is imported; undefined when it is installed into the environment. */
  readonly source?: string;
  /** The folder in which `doctor` keeps what it found whole; without one it imports everything each time. */
  readonly found?: string;
}

/** The trainer ends with this status when what it was asked is of no use, and not the trainer. */
export const WRONG_USE = 2;

export interface AskOptions {
  /** The working directory. */
  readonly cwd: string;
  readonly signal?: AbortSignal;
  /** Each line that it writes to stderr, as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface Answer {
  /** 0 done, 1 failed, 2 wrong use. */
  readonly code: number;
  readonly stdout: string;
  /** Lines without the last empty one. */
  readonly stderr: readonly string[];
}

/** The command line of `python -m tandem_trainer …`. */
export function commandOf(trainer: Trainer, args: readonly string[]): readonly string[] {
  return [trainer.python, '-m', 'tandem_trainer', ...args];
}

/** What the trainer's process is given. */
export function environmentOf(trainer: Trainer): NodeJS.ProcessEnv {
  return {
    ...childEnvironment('computing', 'network', 'python', 'training'),
    ...ownEnvironment(trainer),
  };
}

/** Also where somebody else launches it. */
export function ownEnvironment({ source }: Trainer): NodeJS.ProcessEnv {
  return {
    PYTHONPATH: source,
    PYTHONHOME: undefined,
    PYTHONUTF8: '1',
    PYTHONUNBUFFERED: '1',
    // Nothing is imported from a person's own packages, nor from the folder in which it happens to be started.
    PYTHONNOUSERSITE: '1',
    PYTHONSAFEPATH: '1',
    // Threads that wait for each other sleep, or else two trainings on one machine keep each other from computing.
    OMP_WAIT_POLICY: process.env.OMP_WAIT_POLICY ?? 'PASSIVE',
  };
}

/** Runs a short command of the trainer, `python -m tandem_trainer …`, as `runPython` does. */
export function ask(trainer: Trainer, args: readonly string[], options: AskOptions): Promise<Answer> {
  return runPython(trainer, commandOf(trainer, args).slice(1), options);
}

/**
 * Runs the trainer's Python and waits for it. It ends with this process and with the signal.
 * @throws {Fault} `training/python-not-started`
 * @throws the signal's reason when it is aborted
 */
export async function runPython(
  trainer: Trainer,
  args: readonly string[],
  options: AskOptions,
): Promise<Answer> {
  const { cwd, signal, onLine } = options;
  signal?.throwIfAborted();
  await requireInterpreter(trainer);
  signal?.throwIfAborted();
  const { child, forget } = startLeashed([trainer.python, ...args], {
    cwd,
    env: environmentOf(trainer),
    signal,
  });
  const stdout: Buffer[] = [];
  const stderr: string[] = [];
  child.stdout.on('data', (piece: Buffer) => stdout.push(piece));
  createInterface(child.stderr).on('line', (line) => {
    stderr.push(line);
    onLine?.(line);
  });
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(notStarted(trainer, error)));
      child.once('close', (status) => resolve(status ?? 1));
    });
    signal?.throwIfAborted();
    return { code, stdout: Buffer.concat(stdout).toString('utf8'), stderr };
  } finally {
    forget();
  }
}

/** A name is left to the system, which looks for it on the path. */
async function requireInterpreter(trainer: Trainer): Promise<void> {
  if (!isAbsolute(trainer.python)) return;
  await access(trainer.python, constants.X_OK).catch((error: unknown) => {
    throw notStarted(trainer, error as Error);
  });
}

export function notStarted({ python }: Trainer, cause: Error): Fault {
  const message = `The trainer's Python ${python} cannot be started: ${cause.message}. Check the interpreter.`;
  return new Fault('training/python-not-started', message, { cause });
}

/** What a command that failed said: its own sentence, which it prints last, or where it broke. */
export function sentenceOf({ stderr, code }: Answer): string {
  return stderr.findLast((line) => line.trim() !== '')?.trim() ?? `The trainer ended with status ${code}.`;
}
