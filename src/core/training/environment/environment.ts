import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile, open } from 'node:fs/promises';
import { join, relative, basename } from 'node:path';
import { createInterface } from 'node:readline';
import { Fault } from '../../fault';
import { diskUse } from '../runFolder';
import { runPython, type Trainer } from '../trainer';
import { findPython, onPath, type SystemPython } from './findPython';
import { isThere } from '../../trajectory/files';
import { makeOnce } from './cache';
import { childEnvironment } from '../../childEnvironment';
import { startLeashed } from '../../leash';

export interface TrainerOptions {
  /** The shipped trainer: `pyproject.toml`, `requirements.lock` and the package. */
  readonly source: string;
  readonly cache: string;
  /** An interpreter that already has the trainer's packages: nothing is installed, and `source` is used in place. */
  readonly ready?: string;
  /** The environment is made from it; `by` is the setting or variable that chose it. */
  readonly python?: { readonly file: string; readonly by: string };
  /** Tried before the Pythons on the PATH when `python` is left out. */
  readonly preferred?: string;
  readonly serve?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
  /** Called every second while packages are downloaded, with the bytes that are there; not with uv, which says them. */
  readonly onBytes?: (bytes: number) => void;
}

/**
 * The first call makes the environment, which downloads gigabytes and takes minutes.
 * There are two environments. One holds the packages of `requirements.lock`; its name depends on the lock and the
 * Python. The trainer itself is installed by pip, from its own pyproject, into a small one that sees the first. Its
 * name depends on the trainer's source, too: a new version costs seconds, and a running trainer keeps the version with
 * which it began, also when the extension is updated.
 * @throws {Fault} `training/no-python`, `training/not-installed`, `training/packages-missing`
 * @throws the signal's reason when it is aborted; nothing is left half-made
 */
export async function openTrainer(options: TrainerOptions): Promise<Trainer> {
  const { serve } = options;
  const found = join(options.cache, 'found');
  if (options.ready !== undefined) return { ...(await readyTrainer(options.ready, options)), found, serve };
  const tools = await toolsFor(options);
  const packages = await packagesEnvironment(tools);
  return { python: await trainerEnvironment(packages, tools), found, serve };
}

/** True if `openTrainer` would take seconds and not minutes. @throws {Fault} `training/no-python` */
export async function isInstalled(options: TrainerOptions): Promise<boolean> {
  if (options.ready !== undefined) return true;
  return isThere(folderOf(await packagesName(await toolsFor(options)), options));
}

const NEEDED = ['torch', 'transformers', 'peft', 'safetensors', 'numpy', 'pydantic'];

async function readyTrainer(python: string, { source, signal }: TrainerOptions): Promise<Trainer> {
  const trainer = { python, source };
  const probe = `import importlib.util as u; print(*[name for name in ${JSON.stringify(NEEDED)} if u.find_spec(name) is None])`;
  const { code, stdout, stderr } = await runPython(trainer, ['-c', probe], { cwd: source, signal });
  if (code === 0 && stdout.trim() === '') return trainer;
  const why =
    code === 0
      ? `lacks ${stdout.trim().replaceAll(' ', ', ')}`
      : `fails: ${stderr.at(-1) ?? `status ${code}`}`;
  throw new Fault(
    'training/packages-missing',
    `TANDEM_TRAINER_PYTHON names ${python}, which ${why}. Install ${join(source, 'requirements.lock')} there, or unset the variable and let Tandem make an environment.`,
  );
}

interface Tools {
  readonly uv: string | undefined;
  readonly python: SystemPython;
  readonly options: TrainerOptions;
}

async function toolsFor(options: TrainerOptions): Promise<Tools> {
  const uv = await onPath('uv');
  return { uv, python: await findPython(options.python, uv !== undefined, options.preferred), options };
}

const COUNT_INTERVAL_MS = 1000;

const lockOf = ({ source }: TrainerOptions): string => join(source, 'requirements.lock');

const folderOf = (name: string, { cache }: TrainerOptions): string => join(cache, 'trainer', name);

const packagesName = async ({ python, options }: Tools): Promise<string> =>
  `packages-${hashOf(identity(python), await readFile(lockOf(options)))}`;

async function packagesEnvironment(tools: Tools): Promise<string> {
  const lock = lockOf(tools.options);
  return environment(await packagesName(tools), tools, async (folder, install) => {
    tools.options.onLine?.(
      'Installing what the trainer needs, once: several gigabytes, which takes some minutes.',
    );
    await newEnvironment(folder, tools, install);
    const exactly = ['--only-binary=:all:', '--require-hashes'];
    // Packages would fill a small /tmp, and what they fill can be counted here, by every version of pip.
    const downloads = join(folder, 'downloads');
    await mkdir(downloads);
    const { onBytes } = tools.options;
    const counting = setInterval(() => {
      void diskUse(downloads).then(onBytes);
    }, COUNT_INTERVAL_MS);
    try {
      await pip(interpreterIn(folder), [...exactly, '-r', lock], tools, { ...install, downloads });
    } finally {
      clearInterval(counting);
    }
    await rm(downloads, { recursive: true, force: true });
  });
}

async function trainerEnvironment(packages: string, tools: Tools): Promise<string> {
  const { source } = tools.options;
  const name = `trainer-${hashOf(identity(tools.python), Buffer.from(packages), await contentOf(source))}`;
  const folder = await environment(name, tools, async (temporary, install) => {
    await newEnvironment(temporary, tools, install, 'without pip');
    await writeFile(join(await sitePackages(temporary), 'packages.pth'), `${await sitePackages(packages)}\n`);
    // Setuptools writes into its source folder, and ours may be read-only.
    const copy = join(temporary, 'source');
    await cp(source, copy, { recursive: true, filter: (file) => !isNoise(file) });
    await pip(
      interpreterIn(temporary),
      ['--no-deps', '--no-build-isolation', copy],
      tools,
      install,
      packages,
    );
    await rm(copy, { recursive: true });
  });
  return interpreterIn(folder);
}

type Fill = (temporary: string, install: InstallOptions) => Promise<void>;

async function environment(name: string, { options }: Tools, fill: Fill): Promise<string> {
  const { signal, onLine } = options;
  const folder = folderOf(name, options);
  // When the system's Python has been removed, the environment's link to it is broken.
  const isBroken = (await isThere(folder)) && !(await isThere(interpreterIn(folder)));
  if (isBroken) await rm(folder, { recursive: true, force: true });
  const onWait = (): void => onLine?.(`Another Tandem is making ${folder}; waiting for it …`);
  await makeOnce(folder, (temporary) => fill(temporary, { signal, onLine, log: `${folder}.log` }), {
    signal,
    onWait,
  });
  return folder;
}

/**
 * The folder is renamed when it is complete, which breaks the commands in `bin`: their first line names the folder.
 * They are not needed, because everything is started as `python -m …`.
 */
async function newEnvironment(
  folder: string,
  { uv, python }: Tools,
  install: InstallOptions,
  kind?: 'without pip',
): Promise<void> {
  const command =
    uv === undefined
      ? [python.file, '-I', '-m', 'venv', ...(kind === undefined ? [] : ['--without-pip']), folder]
      : [uv, 'venv', '--allow-existing', '--python', python.file, folder];
  await runInstaller(command, install);
}

/** @param from the environment that lends its pip; by default the interpreter's own */
async function pip(
  interpreter: string,
  args: readonly string[],
  { uv }: Tools,
  install: InstallOptions,
  from?: string,
): Promise<void> {
  const ours =
    from === undefined
      ? [interpreter, '-m', 'pip']
      : [interpreterIn(from), '-m', 'pip', '--python', interpreter];
  const command =
    uv === undefined
      ? [...ours, 'install', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off']
      : // pip compiles by default; uv must be told, or the first run compiles every import.
        [uv, 'pip', 'install', '--compile-bytecode', '--python', interpreter];
  await runInstaller([...command, ...args], install);
}

function interpreterIn(folder: string): string {
  return process.platform === 'win32' ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python');
}

async function sitePackages(folder: string): Promise<string> {
  if (process.platform === 'win32') return join(folder, 'Lib', 'site-packages');
  const version = (await readdir(join(folder, 'lib'))).find((name) => name.startsWith('python'));
  return join(folder, 'lib', version!, 'site-packages');
}

const identity = ({ file, build }: SystemPython): Buffer => Buffer.from(`${file}\n${build}\n`);

function hashOf(...parts: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 12);
}

async function contentOf(source: string): Promise<Buffer> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
  const hash = createHash('sha256');
  for (const file of files.filter((name) => !isNoise(name)).sort()) {
    hash
      .update(`${relative(source, file)}\n`)
      .update(await readFile(file))
      .update('\n');
  }
  return hash.digest();
}

function isNoise(file: string): boolean {
  return file.includes('__pycache__');
}

interface InstallOptions {
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
  /** All of the output is appended to this file. */
  readonly log: string;
  /** Folder for temporary files instead of the system's. */
  readonly downloads?: string;
}

/** Shown by the fault of a failed command. */
const TAIL_LINES = 12;
/** pip prints these for every package; none of them explains a failure. */
const ROUTINE = /^(Ignoring|Looking in indexes:|Collecting|\s+(Downloading|Using cached)) /;

/**
 * The command ends with this process and with the signal, together with its children.
 * @throws {Fault} `training/not-installed` with the end of the output
 */
export async function runInstaller(command: readonly string[], options: InstallOptions): Promise<void> {
  const { signal, onLine, log, downloads } = options;
  signal?.throwIfAborted();
  const output = await open(log, 'a');
  const { child, forget } = startLeashed(command, {
    // The caller's own Python variables would be applied to the new environment.
    env: {
      ...childEnvironment('python', 'network', 'installing'),
      ...{ PYTHONPATH: undefined, PYTHONHOME: undefined, VIRTUAL_ENV: undefined },
      ...(downloads !== undefined && { TMPDIR: downloads, TEMP: downloads, TMP: downloads }),
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
