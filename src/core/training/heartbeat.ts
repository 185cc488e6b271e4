import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../trajectory/files';
import { SILENT_MS } from '../trajectory/heartbeat';
import { runFiles } from './runFolder';

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
