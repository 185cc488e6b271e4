import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { ensurePythonEnvironment } from '../../scripts/python.mjs';

const run = promisify(execFile);

const environment = (
  name: string,
  requirements: string,
  options?: { readonly alone: boolean },
): Promise<string> =>
  ensurePythonEnvironment(
    name,
    path.resolve(requirements),
    (line) => process.stderr.write(`${line}\n`),
    options,
  );

/**
 * Returns a Python with the programs of others that are tested against Tandem (requirements.txt). This and the
 * others here are made before the first test (environments.ts).
 */
export const neighboursPython = (): Promise<string> =>
  environment('neighbours', 'test/neighbours/requirements.txt');

/**
 * Returns a Python with Prime Intellect's verifiers, some of whose packages exclude those of the others; undefined with
 * Python 3.10, for which there is none.
 */
export async function verifiersPython(): Promise<string | undefined> {
  const { stdout } = await run(await trainersPython(), ['-c', 'import sys; print(sys.version_info[:2])']);
  return stdout.trim() === '(3, 10)' ? undefined : environment('verifiers', 'test/neighbours/verifiers.txt');
}

/** Returns the Python of the trainer's tests, which has PyTorch and TRL. */
export const trainersPython = (): Promise<string> =>
  environment('trainer-tests', 'trainer/tests/requirements.lock');

/** Returns the folder from which that Python imports LLaMA-Factory and Axolotl (readers.txt). */
export async function readersFolder(): Promise<string> {
  const python = await environment('readers', 'test/neighbours/readers.txt', { alone: true });
  const { stdout } = await run(python, ['-c', "import sysconfig; print(sysconfig.get_paths()['purelib'])"]);
  return stdout.trim();
}

export interface NeighbourOptions {
  /** By default that of the neighbours. */
  readonly python?: string;
  /** A folder from which it imports as well. */
  readonly imports?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs a Python that can import `tandem_env` and `tandem_taskset`. Nothing is asked of the network.
 * @returns its standard output
 * @throws an error with its standard error when it fails
 */
export async function runNeighbour(
  args: readonly string[],
  { python, imports, env }: NeighbourOptions = {},
): Promise<string> {
  const ours = ['trainer', 'examples/tandem-env'].map((folder) => path.resolve(folder));
  const folders = [...ours, ...(imports === undefined ? [] : [imports])];
  const { stdout } = await run(python ?? (await neighboursPython()), args, {
    maxBuffer: 1 << 24,
    env: {
      ...process.env,
      ...{ HF_HUB_OFFLINE: '1', HF_HUB_DISABLE_TELEMETRY: '1', GRADIO_ANALYTICS_ENABLED: 'False' },
      ...{ TRL_EXPERIMENTAL_SILENCE: '1', PYTHONPATH: folders.join(path.delimiter) },
      ...env,
    },
  });
  return stdout;
}

/** The same for a script whose last line is JSON: what it imports may talk on its standard output too. */
export async function askNeighbour(...of: Parameters<typeof runNeighbour>): Promise<unknown> {
  const stdout = await runNeighbour(...of);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}
