import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { readWhole, writeWhole } from '../training/runFolder';
import { ifThere } from '../trajectory/files';
import { overSeedsSchema } from './overSeeds';

const pointSchema = z.object({
  /** A fraction of the tasks, 0 to 1. */
  share: z.number(),
  tasks: z.number().int(),
  /** Mean over seeds, because tasks may have different numbers of dialogues. */
  dialogues: z.number(),
  success: overSeedsSchema,
});
export type CurvePoint = z.infer<typeof pointSchema>;

/** Success on the validation tasks after training on shares of the data. */
const curveSchema = z.object({
  /** Number of validation tasks; no run learned from them. */
  validation: z.number().int(),
  /** The untrained model; absent where it cannot play on this machine. */
  start: overSeedsSchema.exactOptional(),
  /** In the order of the shares. */
  points: z.array(pointSchema).min(2).readonly(),
  /** The last point minus the one before it, in fractions. */
  gain: overSeedsSchema,
  moreHelps: z.enum(['likely', 'no sign', 'too few']),
  runs: z.array(z.object({ id: z.string(), share: z.number(), seed: z.number().int() })).readonly(),
});
export type Curve = z.infer<typeof curveSchema>;
export type MoreHelps = Curve['moreHelps'];

/** `curves/<key>.json` in the data folder. */
const savedSchema = z.object({
  version: z.literal(1),
  /** ISO 8601, UTC. */
  at: z.string(),
  method: z.string(),
  /** Folder, or name on the hub, of the model that learned. */
  base: z.string(),
  curve: curveSchema,
});
export type SavedCurve = Readonly<z.infer<typeof savedSchema>>;

export interface SavedCurves {
  /** Newest first; only those with a run that still exists. */
  readonly curves: readonly SavedCurve[];
  /** Files that are no curve of this version. */
  readonly unreadable: readonly string[];
}

const folderIn = (dataFolder: string): string => path.join(dataFolder, 'curves');

/** Replaces an earlier curve of the same runs on as many validation tasks. */
export async function saveCurve(
  dataFolder: string,
  saved: Pick<SavedCurve, 'method' | 'base' | 'curve'>,
): Promise<void> {
  const { runs, validation } = saved.curve;
  const identity = JSON.stringify([runs, validation]);
  const key = createHash('sha256').update(identity).digest('hex').slice(0, 12);
  const file = path.join(folderIn(dataFolder), `${key}.json`);
  await writeWhole(file, { version: 1, at: new Date().toISOString(), ...saved } satisfies SavedCurve);
}

/** @param runs ids of the runs in the data folder; with its last run a curve is gone, too */
export async function savedCurves(dataFolder: string, runs: ReadonlySet<string>): Promise<SavedCurves> {
  const folder = folderIn(dataFolder);
  const names = ((await ifThere(() => readdir(folder))) ?? []).filter((name) => name.endsWith('.json'));
  const read = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      return { file, saved: await readWhole(file, savedSchema) };
    }),
  );
  return {
    curves: read
      .flatMap(({ saved }) => (saved?.curve.runs.some(({ id }) => runs.has(id)) === true ? [saved] : []))
      .sort((a, b) => (a.at < b.at ? 1 : -1)),
    unreadable: read.flatMap(({ file, saved }) => (saved === undefined ? [file] : [])),
  };
}
