import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runsFolderOf } from '../training/runFolder';
import { claimIn, type Claim } from '../trajectory/claim';
import { ifThere } from '../trajectory/files';
import { TrajectoryLog, type Erasure } from '../trajectory/log';

/*
 * Loops and scoreboards are made in folders inside of a data folder, and have data folders of their own in them, with
 * logs and runs, at different depths. Everything in them but the logs is made from the logs.
 */

/** The folder that holds them, and what one that is at work has claimed. */
const CLAIMS: Readonly<Record<string, string>> = { loops: 'loop', scoreboards: 'scoreboard' };
const LOG = 'log';
const CLAIMS_FOLDER = 'claims';

/** Every loop and scoreboard of a data folder, as its path from there: `loops/starter-world-quick`. */
export async function experimentsIn(dataFolder: string): Promise<string[]> {
  const found = await Promise.all(
    Object.keys(CLAIMS).map(async (kind) =>
      (await subfolders(join(dataFolder, kind))).map((name) => join(kind, name)),
    ),
  );
  return found.flat().sort();
}

/**
 * Keeps a loop or a scoreboard from going on meanwhile.
 * @throws {Fault} `trajectory/claimed` while one does
 */
export function claimExperiment(folder: string): Promise<Claim> {
  const name = CLAIMS[basename(dirname(folder))]!;
  return claimIn(join(folder, CLAIMS_FOLDER), name, `The ${name} in ${folder}`);
}

/** The folders of its runs. */
export async function runsOfExperiment(folder: string): Promise<string[]> {
  const runs = await Promise.all(
    (await dataFoldersIn(folder)).map(async (data) =>
      (await subfolders(runsFolderOf(data))).map((id) => join(runsFolderOf(data), id)),
    ),
  );
  return runs.flat();
}

/** Removes all but its logs, which the same command makes again, and takes a developer out of the logs. */
export async function clearExperiment(folder: string, pseudonym: string): Promise<Erasure> {
  const logs = await logsIn(folder);
  await removeBut([...logs.map((data) => join(data, LOG)), join(folder, CLAIMS_FOLDER)], folder);
  const erased = { episodes: 0, lines: 0 };
  for (const data of logs) {
    const log = await TrajectoryLog.open(data);
    try {
      const { episodes, lines } = await log.eraseAnnotator(pseudonym);
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

/** The folders with a log or runs, at any depth. */
async function dataFoldersIn(folder: string): Promise<string[]> {
  const names = await subfolders(folder);
  const isData = names.includes(LOG) || names.includes(basename(runsFolderOf(folder)));
  const others = names.filter((name) => name !== LOG && name !== basename(runsFolderOf(folder)));
  const below = await Promise.all(others.map((name) => dataFoldersIn(join(folder, name))));
  return [...(isData ? [folder] : []), ...below.flat()];
}

async function removeBut(kept: readonly string[], folder: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    if (kept.includes(path)) continue;
    if (kept.some((one) => one.startsWith(join(path, '/')))) await removeBut(kept, path);
    else await rm(path, { recursive: true, force: true });
  }
}

async function subfolders(folder: string): Promise<string[]> {
  const entries = (await ifThere(() => readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}
