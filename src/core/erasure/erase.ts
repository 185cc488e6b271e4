import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Fault } from '../fault';
import { runsFolderOf } from '../training/runFolder';
import { trainerOf } from '../training/runs';
import type { Claim } from '../trajectory/claim';
import type { Erasure, TrajectoryLog } from '../trajectory/log';
import { claimExperiment, clearExperiment, runsOfExperiment } from './experiments';
import { madeFrom, type Made } from './made';

/** What was taken out of a data folder; the dialogues and lines are those of its log and of the experiments' logs. */
export interface DataErasure extends Erasure, Made {}

/**
 * Takes everything of a developer out of a data folder: the runs that were trained with it, whole, because their models
 * may repeat it; of loops and scoreboards that hold some of it all but their logs; and then what the logs hold. May be
 * run again after it was interrupted, at any point, because the logs, which tell what was made from them, come last.
 * @param dataFolder of the log
 * @throws {Fault} `training/running` while one of these runs goes on; `trajectory/claimed` while one of these loops or
 * scoreboards does; as `eraseAnnotator`
 */
export async function eraseDeveloper(
  log: TrajectoryLog,
  dataFolder: string,
  pseudonym: string,
): Promise<DataErasure> {
  const { runs, experiments } = await madeFrom(dataFolder, pseudonym);
  const ofRuns = runs.map((id) => join(runsFolderOf(dataFolder), id));
  const ofExperiments = experiments.map((name) => join(dataFolder, name));
  const claims: Claim[] = [];
  try {
    for (const folder of ofExperiments) claims.push(await claimExperiment(folder));
    const inExperiments = await Promise.all(ofExperiments.map(runsOfExperiment));
    for (const folder of [...ofRuns, ...inExperiments.flat()]) await refuseWhileTrained(folder, pseudonym);
    for (const folder of ofRuns) await rm(folder, { recursive: true, force: true });
    let episodes = 0;
    let lines = 0;
    for (const folder of ofExperiments) {
      const cleared = await clearExperiment(folder, pseudonym);
      episodes += cleared.episodes;
      lines += cleared.lines;
    }
    const own = await log.eraseAnnotator(pseudonym);
    return { episodes: episodes + own.episodes, lines: lines + own.lines, runs, experiments };
  } finally {
    for (const claim of claims) await claim.release();
  }
}

async function refuseWhileTrained(run: string, pseudonym: string): Promise<void> {
  if (!(await trainerOf(run)).isLive) return;
  const id = basename(run);
  const message = `The run ${id} is being trained with dialogues of ${pseudonym}. Stop it (\`tandem stop ${id}\`) and try again.`;
  throw new Fault('training/running', message);
}
