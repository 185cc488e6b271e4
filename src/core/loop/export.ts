import { constants } from 'node:fs';
import { cp, readdir, rename, rm, stat } from 'node:fs/promises';
import { readLocalFolder } from '../model/local/folder';
import { ifThere, UNFINISHED } from '../trajectory/files';

export type Precision = 'fp32' | 'int8' | 'int4';

/** Graphs that others made are as exact as ours with as many bits. */
const AS_OURS: Readonly<Record<string, Precision>> = { fp32: 'fp32', int4: 'int4', q4: 'int4' };

/**
 * In which precision the agent of this folder is computed: small models in full precision.
 * @throws {Fault} as `readLocalFolder`
 */
export function precisionOf(base: string): Precision {
  return AS_OURS[readLocalFolder(base).precision] ?? 'int8';
}

/** Copies a model folder in place of an earlier copy; it appears when it is complete. */
export async function putInPlace(from: string, to: string): Promise<void> {
  const unfinished = `${to}${UNFINISHED}`;
  await rm(unfinished, { recursive: true, force: true });
  // Where the file system can, the copy takes no room.
  await cp(from, unfinished, { recursive: true, mode: constants.COPYFILE_FICLONE });
  await rm(to, { recursive: true, force: true });
  await rename(unfinished, to);
}

/** Whether there is something in a folder. */
export async function isFilled(folder: string): Promise<boolean> {
  return ((await ifThere(() => readdir(folder))) ?? []).length > 0;
}

export async function isFile(file: string): Promise<boolean> {
  return (await ifThere(() => stat(file)))?.isFile() === true;
}
