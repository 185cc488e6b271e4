import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import * as z from 'zod';
import { experimentsIn } from '../training/experiments';
import { readWhole, runFiles, runsFolderOf } from '../training/runFolder';
import { ifThere, isErrorCode } from '../trajectory/files';
import { runsOfExperiment } from './experiments';

/** What of a data folder was made from what a developer did, besides the log. */
export interface Made {
  /** The runs, by their ids. */
  readonly runs: readonly string[];
  /** The loops and scoreboards, by their paths from the data folder. */
  readonly experiments: readonly string[];
}

/** A run, or a loop or a scoreboard with all of its runs. */
interface Work {
  readonly name: string;
  readonly folder: string;
  /** The folders of its runs. */
  readonly runs: readonly string[];
  /** Its files that name the developers whose words it holds. */
  readonly sources: () => Promise<readonly string[]>;
}

/**
 * The runs, also those that were never finished being made, and the loops and scoreboards that hold something of a
 * developer, or go on from the model of one that does.
 */
export async function madeFrom(dataFolder: string, pseudonym: string): Promise<Made> {
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

/** How JSON begins a path of something in the folder. */
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

/** The rows that a run was given from the log, and files of rows that its configuration names. */
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

/** Logs, rows and what is written down of them; not models. */
async function writtenIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) =>
    entry.isFile() && /\.jsonl?$/.test(entry.name) ? [join(entry.parentPath, entry.name)] : [],
  );
}

/** Whether one of the files, which are our own and spell names in our own way, has one of the texts. */
async function haveOneOf(paths: readonly string[], texts: readonly string[]): Promise<boolean> {
  const wanted = texts.map((text) => Buffer.from(text));
  for (const path of paths) if (await hasOneOf(path, wanted)) return true;
  return false;
}

async function hasOneOf(file: string, wanted: readonly Buffer[]): Promise<boolean> {
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1;
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
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
