// Makes Python environments for tests and for training, once in the user's cache, from pinned requirements.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { cacheFolder, installOnce } from './setup/cache.mjs';
import { runLogged } from './setup/command.mjs';
import { results } from './setup/project.mjs';
import { seconds, SetupFault } from './setup/steps.mjs';
import { ensureSystemPackages, onPath } from './setup/system.mjs';

/** The oldest Python that the pinned packages support. */
const oldest = [3, 10];

/**
 * @typedef {object} Python
 * @property {string} file the interpreter
 * @property {string} build version and platform, for example `3.12 linux-x86_64`; an environment fits no other build
 */

/**
 * Makes a virtual environment unless it is in the cache, where all clones share one for each combination of
 * requirements and Python. The Python is the system's, or the one in `TANDEM_PYTHON`.
 *
 * @param {string} name its purpose, which is part of the folder's name and of messages
 * @param {string} requirementsFile packages with exact versions, in pip's format
 * @param {(line: string) => void} log receives a line for each step, if there is anything to do
 * @param {{ alone?: boolean }} [options] alone: installs these packages without those that they depend on
 * @returns {Promise<string>} the environment's interpreter
 * @throws {SetupFault} when there is no usable Python, or pip fails
 */
export async function ensurePythonEnvironment(name, requirementsFile, log, { alone = false } = {}) {
  const python = await systemPython(name);
  const folder = environmentFolder(name, readFileSync(requirementsFile, 'utf8'), python);
  // When the system's Python has been removed, the environment's link to it is broken.
  if (existsSync(folder) && !existsSync(interpreter(folder))) rmSync(folder, { recursive: true });
  if (!existsSync(folder)) {
    const started = performance.now();
    log(`Installing the Python packages for ${name} into ${folder}, once …`);
    await installOnce(folder, (temporary) => install(name, temporary, requirementsFile, python, alone));
    log(`The Python packages for ${name} are there (${seconds(performance.now() - started)}).`);
  }
  return interpreter(folder);
}

/** @param {string} name @param {string} requirements @param {Python} python @returns {string} */
function environmentFolder(name, requirements, python) {
  const hash = createHash('sha256').update(`${python.file}\n${python.build}\n${requirements}`).digest('hex');
  return path.join(cacheFolder(), 'python', `${name}-${hash.slice(0, 12)}`);
}

/** @param {string} folder @returns {string} */
function interpreter(folder) {
  return process.platform === 'win32'
    ? path.join(folder, 'Scripts', 'python.exe')
    : path.join(folder, 'bin', 'python');
}

/**
 * Makes the environment. Its folder is renamed when it is complete, which breaks the commands in `bin`, whose first
 * line names the folder. Nothing needs them: everything is started as `python -m …`.
 *
 * @param {string} name @param {string} folder @param {string} requirementsFile @param {Python} python
 * @param {boolean} alone @returns {Promise<void>}
 */
async function install(name, folder, requirementsFile, python, alone) {
  const log = path.join(results, `python-${name}.log`);
  await runLogged(python.file, ['-m', 'venv', folder], { cwd: folder, log });
  const packages = [
    '--only-binary=:all:',
    '-r',
    path.resolve(requirementsFile),
    ...(alone ? ['--no-deps'] : []),
  ];
  // uv installs the same packages several times faster.
  const uv = onPath('uv');
  const [command, args] =
    uv === undefined
      ? [interpreter(folder), ['-m', 'pip', 'install', '--disable-pip-version-check', ...packages]]
      : [uv, ['pip', 'install', '--compile-bytecode', '--python', interpreter(folder), ...packages]];
  await runLogged(command, args, { cwd: folder, log, append: true });
}

/**
 * @param {string} name @returns {Promise<Python>}
 * @throws {SetupFault} when no Python can make environments
 */
async function systemPython(name) {
  const need = `Python ${oldest.join('.')} or newer with its venv and pip`;
  const named = process.env.TANDEM_PYTHON;
  if (named) {
    const build = buildOf(named);
    if (build === undefined) throw new SetupFault(`TANDEM_PYTHON names ${named}, which is not ${need}.`);
    return { file: named, build };
  }
  const packages = [{ what: need, debian: 'python3-venv', present: () => pythonOnPath() !== undefined }];
  await ensureSystemPackages(`The Python environment for ${name}`, packages, path.join(results, 'apt.log'));
  const python = pythonOnPath();
  if (!python) throw new SetupFault(`The Python environment for ${name} needs ${need}.`);
  return python;
}

/** @returns {Python | undefined} the first Python that is new enough and can make environments */
function pythonOnPath() {
  for (const command of ['python3', 'python']) {
    const file = onPath(command);
    const build = file === undefined ? undefined : buildOf(file);
    if (file !== undefined && build !== undefined) return { file, build };
  }
  return undefined;
}

/** @param {string} file @returns {string | undefined} undefined when it is too old, no Python, or lacks venv or pip */
function buildOf(file) {
  const script = [
    'import ensurepip, sys, sysconfig, venv',
    `assert sys.version_info >= (${oldest.join(', ')})`,
    'print("%d.%d" % sys.version_info[:2], sysconfig.get_platform())',
  ].join('\n');
  const { status, stdout } = spawnSync(file, ['-c', script], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
