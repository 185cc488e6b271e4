import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Ends the names of files that are not finished; whatever is left of them after a crash means nothing. */
export const UNFINISHED = '.unfinished';

/**
 * Writes a file so that its name holds either what it held before or all of the new content, also after a crash or a
 * power cut. When `write` throws, nothing is left behind.
 */
export async function writeAtomically(
  file: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}${UNFINISHED}`;
  await makeFolder(dirname(file));
  try {
    const handle = await open(unfinished, 'wx');
    try {
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** Makes a folder, with those above it, so that none of them is lost in a power cut. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made));
}

/** Makes names that were added to or taken from a folder durable. Windows has no such call and needs none. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Runs `read`; undefined when the file or folder is not there. */
export async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** What the system says where nothing can be written: no permission, or no room. */
export const UNWRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'];

export function isErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
