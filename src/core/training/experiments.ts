import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifThere } from '../trajectory/files';
import { runsFolderOf } from './runFolder';

/*
 * Loops and scoreboards lie in folders inside a data folder, and contain data folders of their own, with logs and
 * runs, at different depths.
 */

const KINDS = ['loops', 'scoreboards'] as const;
export type SeriesKind = (typeof KINDS)[number];

export interface Series {
  readonly kind: SeriesKind;
  /** Relative to the data folder: `loops/starter-world-quick`. */
  readonly name: string;
  readonly folder: string;
}

export async function experimentsIn(dataFolder: string): Promise<Series[]> {
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

/** Searches a loop or a scoreboard at any depth. */
export async function dataFoldersIn(folder: string): Promise<string[]> {
  const names = await subfolders(folder);
  const own = [LOG, basename(runsFolderOf(folder))];
  const others = names.filter((name) => !own.includes(name));
  const below = await Promise.all(others.map((name) => dataFoldersIn(join(folder, name))));
  return [...(names.some((name) => own.includes(name)) ? [folder] : []), ...below.flat()];
}

export const LOG = 'log';

export async function subfolders(folder: string): Promise<string[]> {
  const entries = (await ifThere(() => readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}
