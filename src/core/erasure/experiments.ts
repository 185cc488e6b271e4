import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { dataFoldersIn, LOG, subfolders, type SeriesKind } from '../training/series';
import { runsFolderOf } from '../training/runFolder';
import { claimIn, type Claim } from '../trajectory/claim';
import { TrajectoryLog, type Erasure } from '../trajectory/log';

/* Everything in loops and scoreboards except their logs is made from the logs. */

/** Names of the claims that a loop or a scoreboard at work holds. */
const CLAIMS: Readonly<Record<SeriesKind, string>> = { loops: 'loop', scoreboards: 'scoreboard' };
const CLAIMS_FOLDER = 'claims';

/**
 * Claims a loop or a scoreboard, so that it cannot run meanwhile.
 * @throws {Fault} `trajectory/claimed` while it is at work
 */
export function claimExperiment(folder: string): Promise<Claim> {
  const name = CLAIMS[basename(dirname(folder)) as SeriesKind];
  return claimIn(join(folder, CLAIMS_FOLDER), name, `The ${name} in ${folder}`);
}

/** Returns the folders of its runs. */
export async function runsOfExperiment(folder: string): Promise<string[]> {
  const runs = await Promise.all(
    (await dataFoldersIn(folder)).map(async (data) =>
      (await subfolders(runsFolderOf(data))).map((id) => join(runsFolderOf(data), id)),
    ),
  );
  return runs.flat();
}

/** Removes everything but the logs, because the same command makes it again, and erases the developer from the logs. */
export async function clearExperiment(folder: string, pseudonym: string): Promise<Erasure> {
  const logs = await logsIn(folder);
  await removeBut([...logs.map((data) => join(data, LOG)), join(folder, CLAIMS_FOLDER)], folder);
  const erased = { episodes: 0, lines: 0 };
  for (const data of logs) {
    const log = await TrajectoryLog.open(data);
    try {
      const { episodes, lines } = await log.eraseDeveloper(pseudonym);
      erased.episodes += episodes;
      erased.lines += lines;
    } finally {
      await log.close();
    }
  }
  return erased;
}

async function logsIn(folder: string): Promise<string[]> {
  const data = await dataFoldersIn(folder);
  const logs = await Promise.all(
    data.map(async (one) => ((await subfolders(one)).includes(LOG) ? [one] : [])),
  );
  return logs.flat();
}

async function removeBut(kept: readonly string[], folder: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    if (kept.includes(path)) continue;
    if (kept.some((one) => one.startsWith(join(path, '/')))) await removeBut(kept, path);
    else await rm(path, { recursive: true, force: true });
  }
}
