import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { claimIn } from '../trajectory/claim';
import { ifThere, isErrorCode, UNWRITABLE } from '../trajectory/files';
import { readWhole, runFiles, writeWhole } from './runFolder';
import type { Runs } from './runs';

/** `told.json`: the ending that a person was notified about, as a text that differs between endings. */
const toldSchema = lazily(() => z.looseObject({ ending: z.string() }));

/** True if no other window has notified a person of this ending or is about to; also where nothing can be written. */
export async function isFirstToTell(runs: Runs, id: string, ending: string): Promise<boolean> {
  const file = join(runs.folder, id, runFiles.told);
  try {
    const claim = await claimIn(join(runs.dataFolder, 'claims'), `told-${id}`, `The news of ${id}`);
    try {
      if ((await readWhole(file, toldSchema()))?.ending === ending) return false;
      // A run that was deleted meanwhile needs no notice.
      const written = ifThere(async () => {
        await writeWhole(file, { ending });
        return true;
      });
      return (await written) === true;
    } finally {
      await claim.release();
    }
  } catch (error) {
    if (error instanceof Fault && error.code === 'trajectory/claimed') return false;
    const isUnwritable = error instanceof Fault && error.code === 'trajectory/not-written';
    if (isUnwritable || isErrorCode(error, ...UNWRITABLE)) return true;
    throw error;
  }
}
