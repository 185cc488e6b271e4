import { constants } from 'node:fs';
import { access, readdir, readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from '../childEnvironment';
import { Fault, type FaultCode } from '../fault';
import { startLeashed } from '../leash';
import { createHash } from 'node:crypto';

/** A Python that can run the trainer; see `openTrainer`. */
export interface Trainer {
  readonly python: string;
  /** Undefined when the package is installed into the environment. */
  readonly source?: string;
  /** `doctor` records successful checks here; without it, all packages are imported each time. */
  readonly found?: string;
  /** The command of `tandem serve`, which a run that plays starts; without it such a run is refused. */
  readonly serve?: readonly string[];
}

/** Exit status when arguments or input files are to blame. */
export const WRONG_USE = 2;

interface TrainerCallOptions {
  readonly cwd: string;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

export interface TrainerAnswer {
  /** 0 done, 1 failed, 2 wrong use. */
  readonly code: number;
  readonly stdout: string;
  /** Without the last empty line. */
  readonly stderr: readonly string[];
}

export function commandOf(trainer: Trainer, args: readonly string[]): readonly string[] {
  return [trainer.python, '-m', 'tandem_trainer', ...args];
}

export function environmentOf(trainer: Trainer): NodeJS.ProcessEnv {
  return {
    ...childEnvironment('computing', 'network', 'python', 'training'),
    ...ownEnvironment(trainer),
  };
}

/** @param assets the folder of the build */
export const serveCommand = (assets: string): readonly string[] => [
  process.execPath,
  join(assets, 'tandem.js'),
  'serve',
];

/** Also for a command that is launched elsewhere. */
export function ownEnvironment({ source, serve }: Trainer): NodeJS.ProcessEnv {
  return {
    PYTHONPATH: source,
    TANDEM_SERVE: serve && JSON.stringify(serve),
    PYTHONHOME: undefined,
    PYTHONUTF8: '1',
    PYTHONUNBUFFERED: '1',
    // The trainer must not import from the user's own packages or from its working directory.
    PYTHONNOUSERSITE: '1',
    PYTHONSAFEPATH: '1',
    // Waiting threads sleep; spinning, two trainings on one machine would slow each other down.
    OMP_WAIT_POLICY: process.env.OMP_WAIT_POLICY ?? 'PASSIVE',
  };
}

/** `python -m tandem_trainer …`, as `runPython` runs it. */
export function ask(
  trainer: Trainer,
  args: readonly string[],
  options: TrainerCallOptions,
): Promise<TrainerAnswer> {
  return runPython(trainer, commandOf(trainer, args).slice(1), options);
}

/** The process ends with this one and with the signal. @throws {Fault} `training/python-not-started` */
export async function runPython(
  trainer: Trainer,
  args: readonly string[],
  options: TrainerCallOptions,
): Promise<TrainerAnswer> {
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

/** The system looks up a bare name on the PATH; an absolute path is checked here. */
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

export function sentenceOf({ stderr, code }: TrainerAnswer): string {
  return stderr.findLast((line) => line.trim() !== '')?.trim() ?? `The trainer ended with status ${code}.`;
}

/**
 * The output of `python -m tandem_trainer …` when it succeeds.
 * @param codes of faults for unusable arguments or files, and for any other failure
 */
export async function answered(
  trainer: Trainer,
  args: readonly string[],
  codes: readonly [FaultCode, FaultCode],
  options: Omit<TrainerCallOptions, 'cwd'>,
): Promise<string> {
  const answer = await ask(trainer, args, { cwd: process.cwd(), ...options });
  if (answer.code === 0) return answer.stdout;
  throw new Fault(codes[answer.code === WRONG_USE ? 0 : 1], sentenceOf(answer));
}

/** Passes lines on one behind, because the last is the trainer's own report, or the message of the fault. */
export function oneBehind(onLine: TrainerCallOptions['onLine']) {
  let held: string | undefined;
  const passOn = (): void => {
    if (held !== undefined) onLine?.(held);
  };
  return {
    passOn,
    onLine: (line: string): void => {
      passOn();
      held = line;
    },
  };
}

/** Files that influence the result of a training, besides its settings: modules and prompts, such as the critic's. */
const DECIDES = /\.(py|md)$/;

const PACKAGES = ['tandem_trainer', 'tandem_env'];

/**
 * Digest of the trainer's sources: other code would train another model.
 * @param source the folder that contains the packages
 */
export async function trainerCode(source: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of PACKAGES.map((name) => join(source, name))) {
    const files = (await readdir(folder, { recursive: true })).filter((name) => DECIDES.test(name)).sort();
    for (const name of files) {
      hash.update(JSON.stringify([name.replaceAll('\\', '/'), await readFile(join(folder, name), 'utf8')]));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
