import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { ifThere } from '../trajectory/files';
import { readWhole } from './runFolder';

/*
 * A scoreboard (experiments/scoreboard) leaves its runs and critics in a data folder, and beside them one attempt per
 * model that it trained. Only the fields that name its critics are read here.
 */

export const ATTEMPT_FILE = 'attempt.json';

export const attemptFolder = (out: string, name: string): string => join(out, 'attempts', name);

const cellSchema = z.object({
  method: z.string(),
  setting: z.string().nullable(),
  seed: z.number(),
  run: z.string().optional(),
});

/** Names by run id: `sweet-rl, lr 1e-3, seed 2`. Unreadable attempts are skipped. */
export async function trainedCells(out: string): Promise<ReadonlyMap<string, string>> {
  const files = (await attemptsIn(out)).map((folder) => join(folder, ATTEMPT_FILE));
  const attempts = await Promise.all(files.map((file) => readWhole(file, cellSchema)));
  return new Map(
    attempts.flatMap((one) => (one?.run === undefined ? [] : [[one.run, cellName(one)] as const])),
  );
}

/** Omits the split on which the model is then evaluated. */
export const cellName = ({ method, setting, seed }: Omit<z.infer<typeof cellSchema>, 'run'>): string =>
  [method, ...(setting === null ? [] : [setting]), `seed ${seed}`].join(', ');

export async function attemptsIn(out: string): Promise<string[]> {
  const names = (await ifThere(() => readdir(attemptFolder(out, '')))) ?? [];
  return names.map((name) => attemptFolder(out, name));
}
