import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifThere, isErrorCode, isThere } from '../../trajectory/files';
import { pause } from '../pause';

/** A lock untouched for so long belongs to a process that is gone. */
const EXPIRES_MS = 30_000;
const TOUCH_INTERVAL_MS = 5_000;
const POLL_INTERVAL_MS = 250;

interface OnceOptions {
  readonly signal?: AbortSignal;
  /** Called once when another process is making the same folder. */
  readonly onWait?: () => void;
}

/**
 * `fill` gets a temporary folder beside the final one, which is then renamed: it appears completely or not at all. A
 * second process that wants the same folder waits for the first; the lock of a killed process expires after half a
 * minute.
 * @throws what `fill` throws, and the signal's reason; nothing is left behind then
 */
export async function makeOnce(
  folder: string,
  fill: (temporary: string) => Promise<void>,
  options: OnceOptions = {},
): Promise<void> {
  if (await isThere(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const unlock = await lock(`${folder}.lock`, options);
  try {
    if (await isThere(folder)) return;
    await removeParts(folder); // left by a process that was killed
    const temporary = `${folder}${PART}${randomBytes(4).toString('hex')}`;
    await mkdir(temporary);
    try {
      await fill(temporary);
      options.signal?.throwIfAborted();
      await rename(temporary, folder);
    } finally {
      await removeParts(folder);
    }
  } finally {
    await unlock();
  }
}

const PART = '.part-';

async function removeParts(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(folder)}${PART}`)) continue;
    // A child process may still write while it is being ended.
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * The owner touches the lock file while it works. A pid in it would not do: machines and containers that share the
 * cache do not see each other's processes.
 */
async function lock(file: string, { signal, onWait }: OnceOptions): Promise<() => Promise<void>> {
  for (let waited = false; !(await create(file)); waited = true) {
    signal?.throwIfAborted();
    const there = await ifThere(() => stat(file));
    if (there !== undefined && Date.now() - there.mtimeMs > EXPIRES_MS) {
      await rm(file, { force: true });
      continue;
    }
    if (!waited) onWait?.();
    await pause(POLL_INTERVAL_MS, signal);
  }
  const touching = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined); // the lock then expires, and another process repeats the work
  }, TOUCH_INTERVAL_MS);
  touching.unref();
  return async () => {
    clearInterval(touching);
    await rm(file, { force: true });
  };
}

async function create(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false;
    throw error;
  }
}
