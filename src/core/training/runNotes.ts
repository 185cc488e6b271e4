import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { inOneLine } from '../text';
import { isThere } from '../trajectory/files';
import { readWhole, runFiles, writeWhole } from './runFolder';

export const MAX_LENGTHS = { name: 100, tag: 40, tags: 20, note: 2000 } as const;

/**
 * `notes.json` in the run's folder, so that the notes move with the run, and every window and the command line read
 * the same. `run.json` stays as it is, because another configuration would be another run.
 */
interface RunNotes {
  /** Replaces the name in the configuration. Empty for none. */
  readonly name: string;
  readonly tags: readonly string[];
  readonly note: string;
}

const NONE: RunNotes = { name: '', tags: [], note: '' };

const line = (most: number): z.ZodType<string> => z.string().transform(inOneLine).pipe(z.string().max(most));

const schema = lazily(() =>
  z.object({
    name: line(MAX_LENGTHS.name).catch(''),
    tags: z
      .array(line(MAX_LENGTHS.tag))
      .max(MAX_LENGTHS.tags)
      .transform((tags) => [...new Set(tags)].filter((tag) => tag !== ''))
      .catch([]),
    note: line(MAX_LENGTHS.note).catch(''),
  }),
);

/** A part that does not fit counts as absent. */
export const readNotes = async (folder: string): Promise<RunNotes> =>
  (await readWhole(join(folder, runFiles.notes), schema())) ?? NONE;

/**
 * The other parts are read again, because another window may have changed them.
 * @throws {Fault} `training/bad-notes`, when the file holds no JSON: it would be lost
 * @throws {Fault} `training/unknown-run`, when the run is gone
 */
export async function changeNotes(
  folder: string,
  change: (before: RunNotes) => Partial<RunNotes>,
): Promise<void> {
  const file = join(folder, runFiles.notes);
  if (!(await isThere(join(folder, runFiles.configuration)))) {
    throw new Fault('training/unknown-run', `The run in ${folder} is gone, so nothing was saved about it.`);
  }
  const before = await readWhole(file, schema());
  if (before === undefined && (await isThere(file))) {
    const message = `${file} holds no notes that can be read, and writing would lose what is in it. Fix it, or remove it.`;
    throw new Fault('training/bad-notes', message);
  }
  const { name, tags, note } = { ...(before ?? NONE), ...change(before ?? NONE) };
  await writeWhole(file, { name, tags, note });
}
