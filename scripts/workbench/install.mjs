// Installs the workbench: code-server, which contains VS Code's own workbench, as a separate package in the user's
// cache.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { cacheFolder, installOnce } from '../setup/cache.mjs';
import { runLogged } from '../setup/command.mjs';
import { nodeOf, results } from '../setup/project.mjs';
import { SetupFault, step } from '../setup/steps.mjs';
import { buildTools, ensureSystemPackages } from '../setup/system.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

/**
 * @typedef {object} Workbench
 * @property {string} node the Node that runs it
 * @property {string} entry code-server's main file
 */

/**
 * Installs the workbench unless it is in the cache, where all clones share one per version.
 *
 * @returns {Promise<Workbench>}
 */
export async function ensureWorkbench() {
  const folder = workbenchFolder();
  if (!existsSync(folder)) {
    if (process.platform === 'win32') {
      throw new SetupFault(
        'The browser workbench runs on Linux and macOS only: install desktop VS Code with its `code` command.',
      );
    }
    await ensureSystemPackages('The browser workbench', buildTools, path.join(results, 'apt.log'));
    await step('Installing the browser workbench into the cache, once (a few minutes)', () =>
      installOnce(folder, install),
    );
  }
  const modules = path.join(folder, 'node_modules');
  return { node: nodeIn(modules), entry: path.join(modules, 'code-server', 'out', 'node', 'entry.js') };
}

/** @returns {string} a folder for this version; its name contains the lock's digest */
function workbenchFolder() {
  const lock = readFileSync(path.join(here, 'package-lock.json'));
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  return path.join(cacheFolder(), `workbench-${version}`);
}

/** @param {string} folder @returns {Promise<void>} */
async function install(folder) {
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(path.join(here, file), path.join(folder, file));
  }
  const log = path.join(results, 'workbench-install.log');
  // Scripts are left out at first, because this brings the Node for which code-server then compiles its modules.
  await runLogged('npm', ['ci', '--ignore-scripts'], { cwd: folder, log });
  const modules = path.join(folder, 'node_modules');
  await runLogged('sh', ['./postinstall.sh'], {
    cwd: path.join(modules, 'code-server'),
    env: compileFor(nodeIn(modules)),
    log,
    append: true,
  });
}

/**
 * @param {string} node @returns {NodeJS.ProcessEnv} an environment in which npm compiles native modules for this Node
 */
function compileFor(node) {
  const home = path.resolve(node, '../..');
  return {
    ...process.env,
    PATH: [path.dirname(node), process.env.PATH ?? ''].join(path.delimiter),
    // code-server's script reads Node's version from here, and accepts only the one for which it is made.
    npm_config_user_agent: `npm/11 node/v24.0.0 ${process.platform} ${process.arch}`,
    npm_config_ignore_scripts: 'false',
    npm_config_unsafe_perm: 'true',
    // With local headers nothing is downloaded from outside the package registry.
    ...(existsSync(path.join(home, 'include', 'node')) && { npm_config_nodedir: home }),
  };
}

/** @param {string} modules @returns {string} */
function nodeIn(modules) {
  const node = nodeOf(modules);
  if (node) return node;
  throw new SetupFault(
    `npm carries no Node 24 for ${process.platform}-${process.arch}, which the browser workbench needs: ` +
      'install desktop VS Code with its `code` command.',
  );
}
