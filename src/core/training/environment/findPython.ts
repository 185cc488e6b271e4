import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../../childEnvironment';
import { Fault } from '../../fault';

const OLDEST = [3, 10] as const;

/** The system's own first, then versions that may be installed beside an older one. */
export const PYTHON_NAMES = 'python3 python python3.13 python3.12 python3.11 python3.14 python3.10'.split(
  ' ',
);

export interface SystemPython {
  readonly file: string;
  /** Major and minor: `3.12`. */
  readonly version: string;
  /** Version and platform: `3.12 linux-x86_64`; an environment fits no other build. */
  readonly build: string;
  /** Some systems package `venv` separately. */
  readonly hasVenv: boolean;
}

/**
 * @param named the Python that a setting or a variable (`by`, e.g. `TANDEM_PYTHON`) names; it is used or refused
 * @param hasUv uv makes the environment; the Python then needs no `venv`
 * @param preferred tried before those on the PATH
 * @throws {Fault} `training/no-python`
 */
export async function findPython(
  named: { readonly file: string; readonly by: string } | undefined,
  hasUv: boolean,
  preferred?: string,
): Promise<SystemPython> {
  const oldest = OLDEST.join('.');
  const remedy = `Install Python ${oldest} or newer, or name one in the setting tandem.training.python or in TANDEM_PYTHON.`;
  if (named !== undefined) {
    const python = await inspect(named.file);
    if (python === undefined || isOld(python)) {
      const what =
        python === undefined ? `no Python ${oldest} or newer` : `Python ${python.version}, which is too old`;
      throw new Fault('training/no-python', `${named.by} names ${named.file}, which is ${what}. ${remedy}`);
    }
    if (!python.hasVenv && !hasUv) throw withoutVenv(python);
    return python;
  }
  let old: SystemPython | undefined;
  let lacking: SystemPython | undefined;
  for (const name of [undefined, ...PYTHON_NAMES]) {
    const file = name === undefined ? preferred : await onPath(name);
    const python = file === undefined ? undefined : await inspect(file);
    if (python === undefined) continue;
    if (isOld(python)) old ??= python;
    else if (python.hasVenv || hasUv) return python;
    else lacking ??= python;
  }
  if (lacking) throw withoutVenv(lacking);
  const none = old === undefined ? 'none is on the PATH' : `${old.file} is Python ${old.version}`;
  throw new Fault('training/no-python', `Training needs Python ${oldest} or newer, and ${none}. ${remedy}`);
}

function withoutVenv({ file }: SystemPython): Fault {
  return new Fault(
    'training/no-python',
    `${file} cannot make environments, because its venv or ensurepip is missing. Install them (on Debian and Ubuntu: sudo apt install python3-venv), or install uv.`,
  );
}

/** Runs on every Python 3. */
const PROBE = [
  'import sys, sysconfig',
  'print("%d.%d %s" % (sys.version_info[0], sys.version_info[1], sysconfig.get_platform()))',
  'from importlib.util import find_spec',
  'print(all(find_spec(name) for name in ("venv", "ensurepip")))',
].join('\n');

function isOld({ version }: SystemPython): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

/** Undefined when the file is no Python. */
async function inspect(file: string): Promise<SystemPython | undefined> {
  try {
    // `-I` isolates it from the user's packages and from files of the current folder.
    const env = childEnvironment('python');
    const { stdout } = await promisify(execFile)(file, ['-I', '-c', PROBE], { env, windowsHide: true });
    const [build = '', hasVenv] = stdout.trim().split(/\r?\n/);
    const version = /^\d+\.\d+(?= )/.exec(build)?.[0];
    return version === undefined ? undefined : { file, version, build, hasVenv: hasVenv === 'True' };
  } catch {
    return undefined; // it does not answer as Python does
  }
}

/** The file that a shell would run for this name. */
export async function onPath(name: string): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const ending = process.platform === 'win32' ? '.exe' : '';
  for (const folder of folders) {
    const file = join(folder, `${name}${ending}`);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
