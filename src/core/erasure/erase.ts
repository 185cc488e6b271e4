import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Fault } from '../fault';
import { runsFolderOf } from '../training/runFolder';
import { trainerOf } from '../training/runs';
import type { Claim } from '../trajectory/claim';
import type { Erasure, TrajectoryLog } from '../trajectory/log';
import { claimExperiment, clearExperiment, runsOfExperiment, madeFrom, type DerivedWork } from './derived';

/** Dialogues and lines are those of the data folder's log and of the experiments' logs. */
export interface DataErasure extends Erasure, DerivedWork {}

/**
 * Erases a developer from a data folder. Runs trained with their dialogues are removed whole, because their models may
 * repeat them; loops and scoreboards that hold their data lose everything but their logs. The logs come last, since
 * they tell what was made from them: an interrupted erasure may be repeated.
 * @throws {Fault} `training/running` while one of these runs is at work; `trajectory/claimed` while one of these loops
 *   or scoreboards is; the faults of `TrajectoryLog.eraseDeveloper`
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
    const own = await log.eraseDeveloper(pseudonym);
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
