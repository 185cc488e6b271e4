import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { claimIn } from '../trajectory/claim';
import { ifThere, isErrorCode, UNWRITABLE, writeAtomically } from '../trajectory/files';
import { readWhole, runFiles } from './runFolder';
import type { Runs } from './runs';

/**
 * The content of a run's `told.json`: the ending of which a person was notified, as a text that differs between
 * endings.
 */
const toldSchema = lazily(() => z.looseObject({ ending: z.string() }));

/**
 * Records in the run's folder that a person is notified of an ending.
 * @returns whether no other window has notified them or is about to; true also where nothing can be written
 */
export async function isFirstToTell(runs: Runs, id: string, ending: string): Promise<boolean> {
  const file = join(runs.folder, id, runFiles.told);
  try {
    const claim = await claimIn(join(runs.dataFolder, 'claims'), `told-${id}`, `The news of ${id}`);
    try {
      if ((await readWhole(file, toldSchema()))?.ending === ending) return false;
      // Nobody is notified of a run that was deleted meanwhile.
      const written = ifThere(async () => {
        await writeAtomically(file, (handle) => handle.writeFile(JSON.stringify({ ending })));
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
