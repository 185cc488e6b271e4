import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { readJson } from './partial';

const SOURCE_FILE = 'source.json';

const commitPattern = /^[0-9a-f]{40}$/;

const schema = z.object({
  version: z.literal(1),
  dataset: z.string(),
  commit: z.string().regex(commitPattern),
});

/** A full commit always stands for the same files. */
export const isCommit = (revision: string): boolean => commitPattern.test(revision);

/** The folder's file names a repository without its kind. */
const nameOf = (repository: string): string => repository.replace(/^datasets\//, '');

/** @throws {Fault} `task/bad-source` when the folder's file says something else */
export async function commitOfFolder(folder: string, repository: string): Promise<string | undefined> {
  const file = join(folder, SOURCE_FILE);
  const content = await readJson(file);
  if (content === undefined) return undefined;
  const dataset = nameOf(repository);
  const read = schema.safeParse(content);
  if (read.success && read.data.dataset === dataset) return read.data.commit;
  throw new Fault(
    'task/bad-source',
    `${file} does not say of which commit of ${dataset} the files beside it are; choose another folder, or remove it.`,
  );
}

export async function keepCommit(folder: string, repository: string, commit: string): Promise<void> {
  const file = join(folder, SOURCE_FILE);
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`;
  await mkdir(folder, { recursive: true });
  try {
    const source: z.infer<typeof schema> = { version: 1, dataset: nameOf(repository), commit };
    await writeFile(unfinished, `${JSON.stringify(source, undefined, 2)}\n`);
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}
