import { rm, readdir } from 'node:fs/promises';
import { basename, join, resolve, sep, dirname } from 'node:path';
import { Fault } from '../fault';
import { runsFolderOf, readWhole, runFiles } from '../training/runFolder';
import { trainerOf } from '../training/runs';
import { type Claim, claimIn } from '../trajectory/claim';
import { type Erasure, TrajectoryLog } from '../trajectory/log';
import * as z from 'zod';
import { openRegular } from '../regularFile';
import { experimentsIn, dataFoldersIn, LOG, subfolders, type SeriesKind } from '../training/experiments';
import { ifThere, isErrorCode } from '../trajectory/files';

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

export interface DerivedWork {
  readonly runs: readonly string[];
  /** Paths of loops and scoreboards, relative to the data folder. */
  readonly experiments: readonly string[];
}

interface Work {
  readonly name: string;
  readonly folder: string;
  readonly runs: readonly string[];
  /** Files that name the developers in its data. */
  readonly sources: () => Promise<readonly string[]>;
}

/** Also unfinished runs, and work that starts from the model of another that holds data of the developer. */
export async function madeFrom(dataFolder: string, pseudonym: string): Promise<DerivedWork> {
  const folder = resolve(dataFolder);
  const runs = await runsIn(folder);
  const experiments = await worksOfExperiments(folder);
  const made = new Set<Work>();
  let left: readonly Work[] = [...runs, ...experiments];
  for (let traces = [JSON.stringify(pseudonym)]; traces.length > 0;) {
    const found: Work[] = [];
    for (const work of left) {
      const files = made.size === 0 ? await work.sources() : work.runs.map(configurationOf);
      if (await haveOneOf(files, traces)) found.push(work);
    }
    for (const work of found) made.add(work);
    left = left.filter((work) => !made.has(work));
    traces = found.map(pathBelow);
  }
  const namesOf = (works: readonly Work[]): string[] =>
    works.filter((work) => made.has(work)).map(({ name }) => name);
  return { runs: namesOf(runs), experiments: namesOf(experiments) };
}

/** Beginning of paths in the folder, as JSON writes them. */
const pathBelow = ({ folder }: Work): string => JSON.stringify(`${folder}${sep}`).slice(0, -1);

const configurationOf = (run: string): string => join(run, runFiles.configuration);

async function runsIn(dataFolder: string): Promise<Work[]> {
  const entries = (await ifThere(() => readdir(runsFolderOf(dataFolder), { withFileTypes: true }))) ?? [];
  const names = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  return names.map((name) => {
    const folder = join(runsFolderOf(dataFolder), name);
    return { name, folder, runs: [folder], sources: () => rowsOf(folder) };
  });
}

const files = z.union([z.string().transform((one) => [one]), z.array(z.string())]).catch([]);
const dataSchema = z.object({ data: z.object({ trajectories: files, preferences: files }) });

/** Rows from the log, and the files of rows that the run's configuration names. */
async function rowsOf(run: string): Promise<string[]> {
  const configuration = await readWhole(configurationOf(run), dataSchema);
  const { trajectories, preferences } = configuration?.data ?? { trajectories: [], preferences: [] };
  return [join(run, runFiles.trajectories), ...trajectories, ...preferences];
}

async function worksOfExperiments(dataFolder: string): Promise<Work[]> {
  return Promise.all(
    (await experimentsIn(dataFolder)).map(async ({ name, folder }) => ({
      ...{ name, folder, runs: await runsOfExperiment(folder) },
      sources: () => writtenIn(folder),
    })),
  );
}

/** JSON files: logs, rows and reports, but no models. */
async function writtenIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) =>
    entry.isFile() && /\.jsonl?$/.test(entry.name) ? [join(entry.parentPath, entry.name)] : [],
  );
}

/** Comparing bytes is enough, because Tandem's own files always spell a name alike. */
async function haveOneOf(paths: readonly string[], texts: readonly string[]): Promise<boolean> {
  const wanted = texts.map((text) => Buffer.from(text));
  for (const path of paths) if (await hasOneOf(path, wanted)) return true;
  return false;
}

async function hasOneOf(file: string, wanted: readonly Buffer[]): Promise<boolean> {
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1;
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of (await openRegular(file)).createReadStream() as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([rest, chunk]);
      if (wanted.some((text) => bytes.includes(text))) return true;
      rest = bytes.subarray(Math.max(0, bytes.length - overlap));
    }
    return false;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Names of the claims that a running loop or scoreboard holds. */
const CLAIMS: Readonly<Record<SeriesKind, string>> = { loops: 'loop', scoreboards: 'scoreboard' };
const CLAIMS_FOLDER = 'claims';

/**
 * Keeps a loop or a scoreboard from running meanwhile.
 * @throws {Fault} `trajectory/claimed` while it runs
 */
function claimExperiment(folder: string): Promise<Claim> {
  const name = CLAIMS[basename(dirname(folder)) as SeriesKind];
  return claimIn(join(folder, CLAIMS_FOLDER), name, `The ${name} in ${folder}`);
}

async function runsOfExperiment(folder: string): Promise<string[]> {
  const runs = await Promise.all(
    (await dataFoldersIn(folder)).map(async (data) =>
      (await subfolders(runsFolderOf(data))).map((id) => join(runsFolderOf(data), id)),
    ),
  );
  return runs.flat();
}

/** The same command makes everything but the logs again. */
async function clearExperiment(folder: string, pseudonym: string): Promise<Erasure> {
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
