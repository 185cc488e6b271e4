import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';

/** The file that says where the others of its folder were downloaded from. */
export const SOURCE_FILE = 'source.json';

const commitPattern = /^[0-9a-f]{40}$/;

const schema = z.object({
  version: z.literal(1),
  dataset: z.string(),
  commit: z.string().regex(commitPattern),
});

/** Whether a revision is the full name of a commit, which stands for the same files for ever. */
export const isCommit = (revision: string): boolean => commitPattern.test(revision);

/**
 * The commit of all files that were downloaded into a folder; undefined when none was.
 * @throws {Fault} `task/bad-source` when its file says something else
 */
export async function commitOfFolder(folder: string, dataset: string): Promise<string | undefined> {
  const file = join(folder, SOURCE_FILE);
  try {
    const read = schema.safeParse(JSON.parse(await readFile(file, 'utf8')));
    if (read.success && read.data.dataset === dataset) return read.data.commit;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Fault(
    'task/bad-source',
    `${file} does not say of which commit of ${dataset} the files beside it are; choose another folder, or remove it.`,
  );
}

/** Says it of the folder, at once or not at all. */
export async function keepCommit(folder: string, dataset: string, commit: string): Promise<void> {
  const file = join(folder, SOURCE_FILE);
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`;
  await mkdir(folder, { recursive: true });
  try {
    const source: z.infer<typeof schema> = { version: 1, dataset, commit };
    await writeFile(unfinished, `${JSON.stringify(source, undefined, 2)}\n`);
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}
