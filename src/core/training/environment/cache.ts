import { homedir } from 'node:os';
import path, { basename, dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { Fault } from '../../fault';
import { claimIn, type Claim } from '../../trajectory/claim';
import { isThere } from '../../trajectory/files';
import { pause } from '../pause';

/** For files that Tandem can make again. The editor and the command line share it, because it holds gigabytes. */
export function cacheFolder(): string {
  const { TANDEM_CACHE, XDG_CACHE_HOME } = process.env;
  return TANDEM_CACHE ?? path.join(XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tandem');
}

interface EnvironmentSize {
  readonly download: number;
  readonly disk: number;
}

/** Sizes of the locked packages, as measured. On Linux PyTorch includes CUDA. */
export const environmentSize = (): EnvironmentSize =>
  process.platform === 'linux' ? { download: 3.1e9, disk: 5.7e9 } : { download: 0.22e9, disk: 1e9 };

const POLL_INTERVAL_MS = 250;

interface OnceOptions {
  readonly signal?: AbortSignal;
  /** Called once when another process is making the same folder. */
  readonly onWait?: () => void;
}

/**
 * `fill` gets a temporary folder beside the final one, which is then renamed: it appears completely or not at all. A
 * second process that wants the same folder waits for the first.
 * @throws what `fill` throws, and the signal's reason; nothing is left behind then
 */
export async function makeOnce(
  folder: string,
  fill: (temporary: string) => Promise<void>,
  options: OnceOptions = {},
): Promise<void> {
  if (await isThere(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const claim = await claimWhenFree(folder, options);
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
    await claim.release();
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

/** Waits for a process that is making the folder. */
async function claimWhenFree(folder: string, { signal, onWait }: OnceOptions): Promise<Claim> {
  for (let waited = false; ; waited = true) {
    signal?.throwIfAborted();
    try {
      return await claimIn(dirname(folder), basename(folder), folder);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'trajectory/claimed') throw error;
    }
    if (!waited) onWait?.();
    await pause(POLL_INTERVAL_MS, signal);
  }
}
