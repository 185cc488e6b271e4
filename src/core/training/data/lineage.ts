import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { lazily } from '../../lazily';
import { isFolder, readWhole, runFiles, runsFolderOf, writeWhole } from '../runFolder';
import { selectionReportSchema } from './report';

/** Lies in the copy of a model and names its run, which lies in `runs` beside the copy. */
export const ORIGIN = 'trained-by.json';
export const originSchema = lazily(() => z.object({ run: z.string() }));

/** Dialogues that people keep on this machine, by the folder of the run that took them from its log. */
type KeptLocal = ReadonlyMap<string, number>;

const paths = z.union([z.string().transform((one) => [one]), z.array(z.string())]).catch([]);

/** Fields of a configuration that may name results of another run. */
const namingSchema = lazily(() =>
  z.object({
    model: z.object({ base: z.string().catch('') }).catch({ base: '' }),
    data: z
      .object({ trajectories: paths, earlier: paths, preferences: paths })
      .catch({ trajectories: [], earlier: [], preferences: [] }),
  }),
);

const inheritedSchema = lazily(() => z.object({ kept_local: z.record(z.string(), z.number().int()) }));

/**
 * Number of dialogues kept on this machine that a model learned from: those of its run, and of the runs that made the
 * models and rows that its run began with. A dialogue that two of them took counts twice.
 */
export async function keptLocalOf(model: string): Promise<number> {
  const run = await runOfModel(model);
  const counts = await keptLocalBy(run === undefined ? [] : [run], new Set());
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/**
 * Recorded in the run's folder, because the other runs may be removed before this model is published.
 * @param configuration with absolute paths, before rows of other runs are copied
 */
export async function writeInherited(folder: string, configuration: unknown): Promise<void> {
  const counts = await keptLocalBy(await runsNamedIn(configuration, folder), new Set());
  if (counts.size === 0) return;
  await writeWhole(join(folder, runFiles.inherited), { kept_local: Object.fromEntries(counts) });
}

/** @param seen runs already counted; those given are added */
async function keptLocalBy(runs: readonly string[], seen: Set<string>): Promise<KeptLocal> {
  const counts = new Map<string, number>();
  for (const run of runs) {
    if (seen.has(run)) continue;
    seen.add(run);
    const selection = await readWhole(join(run, runFiles.selection), selectionReportSchema());
    const own = selection?.kept_local ?? 0;
    if (own > 0) counts.set(run, own);
    for (const [other, count] of await inheritedBy(run, seen)) counts.set(other, count);
  }
  return counts;
}

/** Runs of an older Tandem have recorded nothing; the runs that their configuration names are read as they are now. */
async function inheritedBy(run: string, seen: Set<string>): Promise<KeptLocal> {
  const noted = await readWhole(join(run, runFiles.inherited), inheritedSchema());
  if (noted !== undefined) return new Map(Object.entries(noted.kept_local));
  const configuration = await readWhole(join(run, runFiles.configuration), z.unknown());
  return keptLocalBy(await runsNamedIn(configuration, run), seen);
}

async function runsNamedIn(configuration: unknown, folder: string): Promise<string[]> {
  const { data: named } = namingSchema().safeParse(configuration);
  if (named === undefined) return [];
  const { model, data } = named;
  const runs = await Promise.all([
    ...(model.base === '' ? [] : [runOfModel(resolve(folder, model.base))]),
    ...[...data.trajectories, ...data.earlier, ...data.preferences].map((file) =>
      runOfRows(resolve(folder, file)),
    ),
  ]);
  return runs.filter((run) => run !== undefined);
}

/** Folder of the run that made a model; undefined when the model is no folder that can be read. */
export async function runOfModel(model: string): Promise<string | undefined> {
  if (!(await isFolder(model))) return undefined;
  const real = await realpath(model);
  const origin = await readWhole(join(real, ORIGIN), originSchema());
  return origin === undefined ? dirname(real) : join(runsFolderOf(dirname(real)), origin.run);
}

/**
 * Files of the dialogues that a model learned from in its run, new ones first; none for a model that no run made. What
 * was removed since, or lies on the hub, is not among them.
 */
export async function rowsLearnedBy(model: string): Promise<string[]> {
  const run = await runOfModel(model);
  if (run === undefined) return [];
  const configuration = await readWhole(join(run, runFiles.configuration), namingSchema());
  const { trajectories = [], earlier = [] } = configuration?.data ?? {};
  return [...trajectories, ...earlier].map((file) => resolve(run, file)).filter((file) => existsSync(file));
}

/** Undefined when the rows do not lie in the `data` of a run. */
async function runOfRows(file: string): Promise<string | undefined> {
  const folder = dirname(await realpath(file).catch(() => file));
  return basename(folder) === dirname(runFiles.selection) ? dirname(folder) : undefined;
}
