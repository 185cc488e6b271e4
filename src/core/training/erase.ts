import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Fault } from '../fault';
import { ifThere, isErrorCode } from '../trajectory/files';
import type { Erasure, TrajectoryLog } from '../trajectory/log';
import { runFiles, runsFolderOf } from './runFolder';
import { trainerOf } from './runs';

/** What was taken out of a data folder. */
export interface DataErasure extends Erasure {
  /** The runs that are gone, by their ids. */
  readonly runs: readonly string[];
}

/**
 * Takes everything of a developer out of a data folder: the runs that were trained with it, whole, because their models
 * may repeat it, and then what the log holds. May be run again after it was interrupted, at any point.
 * @param dataFolder of the log
 * @throws {Fault} `training/running` while one of these runs goes on; as `eraseAnnotator`
 */
export async function eraseDeveloper(
  log: TrajectoryLog,
  dataFolder: string,
  pseudonym: string,
): Promise<DataErasure> {
  const runs = await runsTrainedWith(dataFolder, pseudonym);
  const folder = runsFolderOf(dataFolder);
  for (const id of runs) {
    if (!(await trainerOf(join(folder, id))).isLive) continue;
    const message = `The run ${id} is being trained with dialogues of ${pseudonym}. Stop it (\`tandem stop ${id}\`) and try again.`;
    throw new Fault('training/running', message);
  }
  for (const id of runs) await rm(join(folder, id), { recursive: true, force: true });
  return { ...(await log.eraseAnnotator(pseudonym)), runs };
}

/** The runs, also those that were never finished being made, whose rows hold something of a developer; by their ids. */
export async function runsTrainedWith(dataFolder: string, pseudonym: string): Promise<string[]> {
  const folder = runsFolderOf(dataFolder);
  const entries = (await ifThere(() => readdir(folder, { withFileTypes: true }))) ?? [];
  const ids: string[] = [];
  for (const entry of entries) {
    if (entry.isDirectory() && (await names(join(folder, entry.name, runFiles.trajectories), pseudonym))) {
      ids.push(entry.name);
    }
  }
  return ids.sort();
}

/** Whether a file of rows names the developer. The rows are our own, so that they spell the name in our own way. */
async function names(file: string, pseudonym: string): Promise<boolean> {
  const needle = JSON.stringify(pseudonym);
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) if (line.includes(needle)) return true;
    return false;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return false;
    throw error;
  } finally {
    lines.close();
  }
}
