import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifThere } from '../trajectory/files';
import { runsFolderOf } from './runFolder';

/*
 * Loops and scoreboards are made in folders inside of a data folder, and have data folders of their own in them, with
 * logs and runs, at different depths.
 */

/** The folders that hold them. */
const KINDS = ['loops', 'scoreboards'] as const;
export type ExperimentKind = (typeof KINDS)[number];

export interface Experiment {
  readonly kind: ExperimentKind;
  /** Its path from the data folder: `loops/starter-world-quick`. */
  readonly name: string;
  readonly folder: string;
}

/** Every loop and scoreboard of a data folder. */
export async function experimentsIn(dataFolder: string): Promise<Experiment[]> {
  const found = await Promise.all(
    KINDS.map(async (kind) =>
      (await subfolders(join(dataFolder, kind))).map((one) => {
        const name = join(kind, one);
        return { kind, name, folder: join(dataFolder, name) };
      }),
    ),
  );
  return found.flat();
}

/** The folders with a log or runs in a loop or a scoreboard, at any depth. */
export async function dataFoldersIn(folder: string): Promise<string[]> {
  const names = await subfolders(folder);
  const own = [LOG, basename(runsFolderOf(folder))];
  const others = names.filter((name) => !own.includes(name));
  const below = await Promise.all(others.map((name) => dataFoldersIn(join(folder, name))));
  return [...(names.some((name) => own.includes(name)) ? [folder] : []), ...below.flat()];
}

/** Of a data folder that keeps a log. */
export const LOG = 'log';

export async function subfolders(folder: string): Promise<string[]> {
  const entries = (await ifThere(() => readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}
