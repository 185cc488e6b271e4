import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../trajectory/files';
import { runFiles } from './runFolder';

/*
 * Nobody can ask another machine whether a process lives there, and a machine may change its name: a rebuilt container,
 * a laptop in another network. A trainer at work therefore touches a file every 30 seconds (`claim.py`), twenty times
 * within this limit.
 */
export const SILENT_MS = 10 * 60_000;

/** Files that only a trainer at work or its launcher writes. */
const SIGNS = [runFiles.alive, runFiles.events, runFiles.process, runFiles.launch];

/**
 * Returns the time of the trainer's last sign of life, in ISO 8601, when it is silent for too long; otherwise
 * undefined.
 */
export async function silentSince(folder: string, now = Date.now()): Promise<string | undefined> {
  const signs = await Promise.all(SIGNS.map((name) => ifThere(() => stat(join(folder, name)))));
  const heard = Math.max(0, ...signs.map((sign) => sign?.mtimeMs ?? 0));
  return now - heard > SILENT_MS ? new Date(heard).toISOString() : undefined;
}

/**
 * Returns the time of the file system that holds the run, in milliseconds since 1970: files on a share bear the time of
 * its server, which may differ from this machine's clock.
 */
export async function timeAt(folder: string): Promise<number> {
  const file = join(folder, 'now');
  try {
    await writeFile(file, '');
    return (await stat(file)).mtimeMs;
  } finally {
    await rm(file, { force: true });
  }
}
