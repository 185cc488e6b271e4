import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../trajectory/files';
import { SILENT_MS } from '../trajectory/heartbeat';
import { runFiles } from './runFolder';

/** Only a running trainer or its launcher writes these. */
const SIGNS = [runFiles.alive, runFiles.events, runFiles.process, runFiles.launch];

/** Time of the trainer's last sign of life, in ISO 8601; undefined unless it is silent for too long. */
export async function silentSince(folder: string, now = Date.now()): Promise<string | undefined> {
  const signs = await Promise.all(SIGNS.map((name) => ifThere(() => stat(join(folder, name)))));
  const heard = Math.max(0, ...signs.map((sign) => sign?.mtimeMs ?? 0));
  return now - heard > SILENT_MS ? new Date(heard).toISOString() : undefined;
}
