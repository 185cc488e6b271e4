import { readdir, rm } from 'node:fs/promises';
import { basename, join, relative, resolve, sep, dirname } from 'node:path';
import { Fault } from '../fault';
import { cell } from '../markdown';
import { printable } from '../text';
import { runsFolderOf, readWhole, runFiles } from '../training/runFolder';
import { trainerOf } from '../training/process';
import { repairedFolder } from '../trajectory/check';
import { type Claim, claimIn } from '../trajectory/claim';
import { episodesOf } from '../trajectory/erase';
import { type Erasure, TrajectoryLog } from '../trajectory/log';
import * as z from 'zod';
import { MB, readInParts, readText } from '../regularFile';
import { experimentsIn, dataFoldersIn, LOG, subfolders, type SeriesKind } from '../training/experiments';
import { ifThere, isErrorCode, UNFINISHED } from '../trajectory/files';

/** Dialogues and lines are those of the data folder's log and of the experiments' logs. */
export interface DataErasure extends Erasure, DerivedWork {}

/**
 * Erases a developer from a data folder, and from a repaired copy beside it. Runs trained with their dialogues are
 * removed whole, because their models may repeat them; so are exports in the folder. Loops and scoreboards that hold
 * their data lose everything but their logs. The logs come last, since they tell what was made from them: an
 * interrupted erasure may be repeated.
 * @throws {Fault} `training/running` while one of these runs is at work; `trajectory/claimed` while one of these loops
 *   or scoreboards is; the faults of `TrajectoryLog.eraseDeveloper`
 */
export async function eraseDeveloper(
  log: TrajectoryLog,
  dataFolder: string,
  pseudonym: string,
): Promise<DataErasure> {
  const { runs, experiments, exports } = await madeFrom(dataFolder, pseudonym);
  const ofRuns = runs.map((id) => join(runsFolderOf(dataFolder), id));
  const ofExperiments = experiments.map((name) => join(dataFolder, name));
  const claims: Claim[] = [];
  try {
    for (const folder of ofExperiments) claims.push(await claimExperiment(folder));
    const inExperiments = await Promise.all(ofExperiments.map(runsOfExperiment));
    for (const folder of [...ofRuns, ...inExperiments.flat()]) await refuseWhileTrained(folder, pseudonym);
    for (const folder of ofRuns) await rm(folder, { recursive: true, force: true });
    for (const name of exports) await rm(join(dataFolder, name), { force: true });
    await eraseRepaired(dataFolder, pseudonym);
    let episodes = 0;
    let lines = 0;
    for (const folder of ofExperiments) {
      const cleared = await clearExperiment(folder, pseudonym);
      episodes += cleared.episodes;
      lines += cleared.lines;
    }
    const own = await log.eraseDeveloper(pseudonym);
    return { episodes: episodes + own.episodes, lines: lines + own.lines, runs, experiments, exports };
  } finally {
    for (const claim of claims) await claim.release();
  }
}

/** `tandem check --repair` leaves the log that it has repaired beside the data folder, until a person moves it. */
async function eraseRepaired(dataFolder: string, pseudonym: string): Promise<void> {
  const folder = repairedFolder(dataFolder);
  await rm(`${folder}${UNFINISHED}`, { recursive: true, force: true });
  if (!(await subfolders(folder)).includes(LOG)) return;
  await eraseIn(folder, pseudonym);
}

async function eraseIn(dataFolder: string, pseudonym: string): Promise<Erasure> {
  const log = await TrajectoryLog.open(dataFolder);
  try {
    return await log.eraseDeveloper(pseudonym);
  } finally {
    await log.close();
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
  /** Paths of exported files and their cards in the data folder, relative to it. */
  readonly exports: readonly string[];
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
  const person = await tracesOf(folder, pseudonym);
  const made = new Set<Work>();
  let left: readonly Work[] = [...runs, ...experiments];
  for (let traces: Traces | undefined = person; traces !== undefined;) {
    const found: Work[] = [];
    for (const work of left) {
      const files = made.size === 0 ? await work.sources() : work.runs.map(configurationOf);
      if (await haveOneOf(files, traces)) found.push(work);
    }
    for (const work of found) made.add(work);
    left = left.filter((work) => !made.has(work));
    traces = found.length === 0 ? undefined : { texts: found.map(pathBelow), episodes: new Set() };
  }
  const namesOf = (works: readonly Work[]): string[] =>
    works.filter((work) => made.has(work)).map(({ name }) => name);
  const exports = await exportsIn(folder, pseudonym, person);
  return { runs: namesOf(runs), experiments: namesOf(experiments), exports };
}

interface Traces {
  readonly texts: readonly string[];
  /** Ids of dialogues: the rows of one in which the person only chose, or ended it, do not say the name. */
  readonly episodes: ReadonlySet<string>;
}

async function tracesOf(dataFolder: string, pseudonym: string): Promise<Traces> {
  const inExperiments = (await experimentsIn(dataFolder)).map(({ folder }) => dataFoldersIn(folder));
  const data = [dataFolder, ...(await Promise.all(inExperiments)).flat()];
  const episodes = await Promise.all(data.map((one) => episodesOf(join(one, LOG), pseudonym)));
  return { texts: spellings(pseudonym), episodes: new Set(episodes.flat()) };
}

/** Of a text in JSON: as Tandem writes it, and as rows have it that pandas or Python's `json` saved again. */
function spellings(text: string): string[] {
  const own = JSON.stringify(text);
  const ascii = (pad: (code: string) => string): string =>
    own.replaceAll(
      /[^\x20-\x7e]/g,
      (character) => `\\u${pad(character.charCodeAt(0).toString(16).padStart(4, '0'))}`,
    );
  const all = [own, ascii((code) => code), ascii((code) => code.toUpperCase())];
  return [...new Set(all.flatMap((one) => [one, one.replaceAll('/', '\\/')]))];
}

/** Exported rows and their cards, and unfinished ones that a crash has left. */
async function exportsIn(dataFolder: string, pseudonym: string, person: Traces): Promise<string[]> {
  const files = (await filesIn(dataFolder, IN_NO_EXPORT)).map((file) => relative(dataFolder, file));
  const names = new Set(files);
  const exports: string[] = [];
  for (const name of files.filter((each) => names.has(`${each}.md`) || each.endsWith(UNFINISHED))) {
    const file = join(dataFolder, name);
    const card = (await ifThere(() => readText(`${file}.md`, MB))) ?? '';
    if (!namesInCard(card, pseudonym) && !(await haveOneOf([file], person))) continue;
    exports.push(name, ...(names.has(`${name}.md`) ? [`${name}.md`] : []));
  }
  return exports.sort();
}

/** What else a data folder holds. */
const IN_NO_EXPORT: ReadonlySet<string> = new Set([
  ...[LOG, 'pictures', 'index', 'claims', 'runs', 'loops', 'scoreboards'],
]);

/** Rows for a chat template name no person, but their card does, in a cell of a table. */
function namesInCard(card: string, pseudonym: string): boolean {
  const name = cell(printable(pseudonym));
  return card.includes(`| ${name} |`) || card.includes(`| developer ${name} |`);
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
const dataSchema = z.object({ data: z.object({ trajectories: files, earlier: files, preferences: files }) });

/** Rows from the log, unfinished ones too, and the files of rows that the run's configuration names. */
async function rowsOf(run: string): Promise<string[]> {
  const configuration = await readWhole(configurationOf(run), dataSchema);
  const { trajectories = [], earlier = [], preferences = [] } = configuration?.data ?? {};
  const own = (await subfolders(run)).includes('data') ? await writtenIn(join(run, 'data')) : [];
  return [...own, ...trajectories, ...earlier, ...preferences];
}

async function worksOfExperiments(dataFolder: string): Promise<Work[]> {
  return Promise.all(
    (await experimentsIn(dataFolder)).map(async ({ name, folder }) => ({
      ...{ name, folder, runs: await runsOfExperiment(folder) },
      sources: () => writtenIn(folder),
    })),
  );
}

/** Files that may name a person: logs, rows, reports and unfinished files, but no models. */
async function writtenIn(folder: string): Promise<string[]> {
  return (await filesIn(folder)).filter((file) => /\.(?:jsonl?|unfinished)$/.test(file));
}

async function filesIn(folder: string, except: ReadonlySet<string> = new Set()): Promise<string[]> {
  const files: string[] = [];
  for (const entry of (await ifThere(() => readdir(folder, { withFileTypes: true }))) ?? []) {
    if (except.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesIn(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}

async function haveOneOf(paths: readonly string[], traces: Traces): Promise<boolean> {
  const wanted = traces.texts.map((text) => Buffer.from(text));
  for (const path of paths) if (await hasOneOf(path, wanted, traces.episodes)) return true;
  return false;
}

const EPISODE = Buffer.from('"episode"');
/** More than the id of a dialogue, and what stands before it. */
const ID_BYTES = 1024;

async function hasOneOf(
  file: string,
  wanted: readonly Buffer[],
  episodes: ReadonlySet<string>,
): Promise<boolean> {
  const overlap = Math.max(ID_BYTES, ...wanted.map(({ length }) => length)) - 1;
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of readInParts(file)) {
      const bytes = Buffer.concat([rest, chunk]);
      if (wanted.some((text) => bytes.includes(text))) return true;
      if (episodes.size > 0 && namesEpisode(bytes, episodes)) return true;
      rest = bytes.subarray(Math.max(0, bytes.length - overlap));
    }
    return false;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function namesEpisode(bytes: Buffer, episodes: ReadonlySet<string>): boolean {
  for (let at = bytes.indexOf(EPISODE); at !== -1; at = bytes.indexOf(EPISODE, at + 1)) {
    const text = bytes.toString('utf8', at + EPISODE.length, at + ID_BYTES);
    const [, id] = /^ ?: ?"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
    if (id !== undefined && episodes.has(JSON.parse(`"${id}"`) as string)) return true;
  }
  return false;
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
    const { episodes, lines } = await eraseIn(data, pseudonym);
    erased.episodes += episodes;
    erased.lines += lines;
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
