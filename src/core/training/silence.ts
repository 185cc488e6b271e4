import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../trajectory/files';
import { runFiles } from './runFolder';

/*
 * Whether a process of another machine lives nobody can ask it, and a machine may have another name after a while: a
 * container that was built anew, a laptop in another network. What can be seen is that a trainer at work touches a file
 * all the time (`alive.py`), twenty times within this.
 */
export const SILENT_MS = 10 * 60_000;

/** What nobody but a trainer at work, or who has just launched it, writes. */
const SIGNS = [runFiles.alive, runFiles.events, runFiles.process, runFiles.launch];

/** Since when nothing was heard of the trainer of a run, in ISO 8601; undefined while it may be at work. */
export async function silentSince(folder: string, now = Date.now()): Promise<string | undefined> {
  const signs = await Promise.all(SIGNS.map((name) => ifThere(() => stat(join(folder, name)))));
  const heard = Math.max(0, ...signs.map((sign) => sign?.mtimeMs ?? 0));
  return now - heard > SILENT_MS ? new Date(heard).toISOString() : undefined;
}

/**
 * What time it is where the run is kept: the files of a share bear the time of its server, which this machine's clock
 * need not show.
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
