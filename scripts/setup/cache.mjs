// Installs large things once into the user's cache folder, which all clones share.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  closeSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A lock untouched for this many milliseconds belongs to a process that is gone. */
const lockExpires = 30_000;
const lockTouched = 5_000;

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string} `$TANDEM_CACHE`, otherwise `$XDG_CACHE_HOME/tandem`, otherwise `~/.cache/tandem`
 */
export function cacheFolder(env = process.env) {
  if (env.TANDEM_CACHE) return path.resolve(env.TANDEM_CACHE);
  const caches = env.XDG_CACHE_HOME ?? '';
  return path.join(caches === '' ? path.join(os.homedir(), '.cache') : caches, 'tandem');
}

/**
 * Makes a folder once, completely or not at all: `install` fills a temporary folder beside it, which is then renamed. A
 * second process that wants the same folder waits for the first.
 *
 * @param {string} folder
 * @param {(temporary: string) => Promise<void>} install
 * @param {{expires?: number}} [options] `expires`: milliseconds after which an untouched lock counts as abandoned
 * @returns {Promise<void>}
 */
export async function installOnce(folder, install, { expires = lockExpires } = {}) {
  if (existsSync(folder)) return;
  mkdirSync(path.dirname(folder), { recursive: true });
  const unlock = await lock(`${folder}.lock`, expires);
  try {
    if (existsSync(folder)) return;
    // Removes what a killed process has left.
    removeParts(folder);
    const temporary = mkdtempSync(partOf(folder));
    const abandon = () => removeParts(folder);
    process.once('exit', abandon);
    try {
      await install(temporary);
      renameSync(temporary, folder);
    } finally {
      process.off('exit', abandon);
      removeParts(folder);
    }
  } finally {
    unlock();
  }
}

/** @param {string} folder @returns {string} the common prefix of its temporary folders */
function partOf(folder) {
  return `${folder}.part-`;
}

/** Removes all temporary folders; only the lock's owner may call it. @param {string} folder */
function removeParts(folder) {
  const parent = path.dirname(folder);
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(path.basename(partOf(folder)))) continue;
    // A child command may still write while it is being ended.
    rmSync(path.join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Takes the lock, or waits until its owner has released it or is gone. The owner touches the file while it works: a
 * killed process then blocks nobody for long, even when machines or containers that do not see each other's processes
 * share the cache.
 *
 * @param {string} file
 * @param {number} expires milliseconds
 * @returns {Promise<() => void>} releases the lock
 */
async function lock(file, expires) {
  while (!create(file)) {
    const touched = modified(file);
    if (touched !== undefined && Date.now() - touched > expires) rmSync(file, { force: true });
    else await pause(250);
  }
  const touching = setInterval(() => utimesSync(file, new Date(), new Date()), lockTouched);
  touching.unref();
  const unlock = () => {
    clearInterval(touching);
    process.off('exit', unlock);
    rmSync(file, { force: true });
  };
  process.once('exit', unlock);
  return unlock;
}

/** @param {string} file @returns {boolean} false when the file exists already */
function create(file) {
  try {
    closeSync(openSync(file, 'wx'));
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} file @returns {number | undefined} milliseconds since the epoch, undefined when it is gone */
function modified(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
