import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Suffix of unfinished files; files with it that remain after a crash can be deleted. */
export const UNFINISHED = '.unfinished';

/**
 * Writes a file atomically: even after a crash or power cut, the file has either its old content or all of the new. If
 * writing fails, nothing is left behind.
 */
export async function writeAtomically(
  file: string,
  content: string | Uint8Array | ((handle: FileHandle) => Promise<void>),
): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}${UNFINISHED}`;
  await makeFolder(dirname(file));
  try {
    const handle = await open(unfinished, 'wx');
    try {
      await (typeof content === 'function' ? content(handle) : handle.writeFile(content));
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

const FLUSH_BYTES = 4 * 1024 * 1024;

/** Writes lines in large pieces, at once, because the lines come from a reader that does not wait. */
export class LineWriter {
  private lines: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly handle: FileHandle) {}

  put(line: Buffer): void {
    this.lines.push(line);
    this.bytes += line.length;
    if (this.bytes > FLUSH_BYTES) this.flush();
  }

  flush(): void {
    const piece = Buffer.concat(this.lines);
    for (let written = 0; written < piece.length;) written += writeSync(this.handle.fd, piece, written);
    this.lines = [];
    this.bytes = 0;
  }
}

/** Creates a folder and its parents, so that none of them is lost in a power cut. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  // `first` is as relative as `folder`.
  const top = resolve(first);
  for (let made = resolve(folder); made.length >= top.length; made = dirname(made))
    await syncFolder(dirname(made));
}

/**
 * Makes changes to the names in a folder durable. Windows has no such call and needs none; a file system without it, as
 * some network drives are, says `EINVAL`.
 */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!isErrorCode(error, 'EINVAL')) throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Runs `read`; returns undefined if the file or folder does not exist. It runs again if another machine has replaced the
 * file in a network folder after it was opened (`ESTALE`).
 */
export async function ifThere<T>(read: () => Promise<T>, isSecond = false): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return undefined;
    if (isErrorCode(error, 'ESTALE') && !isSecond) return ifThere(read, true);
    throw error;
  }
}

export const isThere = async (path: string): Promise<boolean> =>
  (await ifThere(() => stat(path))) !== undefined;

/** No permission, or no space. */
export const UNWRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'];

export function isErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
