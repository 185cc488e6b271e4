import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
  type Stats,
} from 'node:fs';
import { copyFile, lstat, mkdir, open, readdir, stat, statfs, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from './fault';

/*
 * A file that a user names, or that lies in a folder from elsewhere, may be a pipe, which never answers, a device, a
 * link to one, or larger than memory. Whatever is opened is looked at first, and again once it is open.
 */

export const MB = 2 ** 20;

/** A line may be passed over up to this length; a file with a longer one, such as a sparse file, is not read on. */
export const MAX_PASSED_OVER_BYTES = 128 * MB;

export interface OpenOptions {
  /** Refused where what a link leads to would be copied or written to; by default its target must be a regular file. */
  readonly links?: 'refused';
  /** The file is made if it is absent; by default it is read. */
  readonly flags?: 'a' | 'a+' | 'r+';
}

// Undefined on Windows, which has neither such pipes nor such links in a folder.
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

const FLAGS = {
  r: constants.O_RDONLY,
  'r+': constants.O_RDWR,
  a: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
  'a+': constants.O_RDWR | constants.O_APPEND | constants.O_CREAT,
} as const;

const flagsOf = ({ links, flags }: OpenOptions): number =>
  FLAGS[flags ?? 'r'] | O_NONBLOCK | (links === 'refused' ? O_NOFOLLOW : 0);

const mayBeAbsent = ({ flags }: OpenOptions, error: unknown): boolean =>
  (flags === 'a' || flags === 'a+') && error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * @throws {Fault} `file/not-regular`
 * @throws the system's error if it cannot be opened
 */
export async function openRegular(file: string, options: OpenOptions = {}): Promise<FileHandle> {
  const look = options.links === 'refused' ? lstat : stat;
  try {
    refuseOther(file, await look(file));
  } catch (error) {
    if (!mayBeAbsent(options, error)) throw error;
  }
  const handle = await open(file, flagsOf(options), 0o666);
  try {
    refuseOther(file, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** As `openRegular`. @returns the descriptor */
export function openRegularSync(file: string): number {
  refuseOther(file, statSync(file));
  const descriptor = openSync(file, flagsOf({}));
  try {
    refuseOther(file, fstatSync(descriptor));
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Reads a whole file.
 * @throws {Fault} `file/not-regular`, `file/too-large`
 * @throws the system's error if it cannot be opened or read
 */
export async function readBytes(file: string, maxBytes: number, options: OpenOptions = {}): Promise<Buffer> {
  const handle = await openRegular(file, options);
  try {
    const bytes = new GrowingBytes(file, (await handle.stat()).size, maxBytes);
    for (;;) {
      const { bytesRead } = await handle.read(bytes.room);
      if (bytesRead === 0) return bytes.read;
      bytes.grow(bytesRead);
    }
  } finally {
    await handle.close();
  }
}

export const readText = async (file: string, maxBytes: number): Promise<string> =>
  (await readBytes(file, maxBytes)).toString('utf8');

export function readBytesSync(file: string, maxBytes: number): Buffer {
  const descriptor = openRegularSync(file);
  try {
    const bytes = new GrowingBytes(file, fstatSync(descriptor).size, maxBytes);
    for (;;) {
      const bytesRead = readSync(descriptor, bytes.room);
      if (bytesRead === 0) return bytes.read;
      bytes.grow(bytesRead);
    }
  } finally {
    closeSync(descriptor);
  }
}

export const readTextSync = (file: string, maxBytes: number): string =>
  readBytesSync(file, maxBytes).toString('utf8');

/** A file may grow while it is read, and the size of one of the system's own is 0. */
class GrowingBytes {
  private buffer: Buffer;
  private filled = 0;

  constructor(
    private readonly file: string,
    size: number,
    private readonly maxBytes: number,
  ) {
    if (size > maxBytes) throw tooLarge(file, maxBytes);
    this.buffer = Buffer.allocUnsafe(Math.max(size + 1, 4096));
  }

  get room(): Buffer {
    return this.buffer.subarray(this.filled);
  }

  get read(): Buffer {
    return this.buffer.subarray(0, this.filled);
  }

  grow(bytes: number): void {
    this.filled += bytes;
    if (this.filled > this.maxBytes) throw tooLarge(this.file, this.maxBytes);
    if (this.filled === this.buffer.length)
      this.buffer = Buffer.concat([this.buffer, Buffer.allocUnsafe(this.buffer.length)]);
  }
}

/**
 * The bytes of a text file, whatever its size.
 * @throws {Fault} `file/not-regular`, `file/too-large` for one that goes on with zeros, as a sparse file does
 * @throws the system's error if it cannot be opened or read, and the signal's reason when it is aborted
 */
export async function* readInParts(file: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const handle = await openRegular(file);
  let zeros = 0;
  const parts: AsyncIterable<Buffer> = handle.createReadStream({ highWaterMark: ZEROS.length });
  for await (const part of parts) {
    signal?.throwIfAborted();
    zeros = part.equals(ZEROS.subarray(0, part.length)) ? zeros + part.length : 0;
    if (zeros > MAX_PASSED_OVER_BYTES) throw endless(file, `more than ${LIMIT} of zeros`);
    yield part;
  }
}

const ZEROS = Buffer.alloc(MB / 4);

const hasHoles = ({ size, blocks }: Stats): boolean => blocks * 512 < size;

/** A copy has no holes: that of a sparse file would go on until the disk is full. */
async function refuseFull(file: string, { size }: Stats, folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (size <= bavail * bsize) return;
  throw new Fault(
    'file/too-large',
    `${file} is larger than what is free in ${folder}, and is not copied: check that it is the right file.`,
  );
}

/** File systems with copy-on-write share the blocks. @throws {Fault} `file/not-regular`, `file/too-large` */
export async function copyRegular(
  from: string,
  to: string,
  { links, mode = 0 }: Pick<OpenOptions, 'links'> & { readonly mode?: number } = {},
): Promise<void> {
  const found = await (links === 'refused' ? lstat : stat)(from);
  refuseOther(from, found);
  if (hasHoles(found)) await refuseFull(from, found, dirname(to));
  await copyFile(from, to, constants.COPYFILE_FICLONE | mode);
}

/**
 * Copies a folder, but nothing that a link in it leads to.
 * @throws {Fault} `file/not-regular` if it contains a link, a pipe, a socket or a device, or is a link itself
 */
export async function copyFolder(
  from: string,
  to: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<void> {
  refuseLinkedFolder(from);
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (!isWanted(source)) continue;
    if (entry.isDirectory()) await copyFolder(source, join(to, entry.name), isWanted);
    else await copyRegular(source, join(to, entry.name), { links: 'refused' });
  }
}

/** For a folder of which the content is copied. @throws {Fault} `file/not-regular` */
export function refuseLinkedFolder(folder: string): void {
  const there = lstatSync(folder, { throwIfNoEntry: false });
  if (there?.isSymbolicLink() === true) throw notRegular(folder, 'a link');
}

/** For a file that another program opens by its path. @throws {Fault} `file/not-regular` */
export function refuseOther(file: string, found: Stats): void {
  const what = kindOf(found);
  if (what !== undefined) throw notRegular(file, what);
}

/** For a file that another program opens by its path. @throws {Fault} `file/not-regular`, `file/too-large` */
export function refuseLarge(file: string, maxBytes: number): void {
  const found = statSync(file);
  refuseOther(file, found);
  if (found.size > maxBytes) throw tooLarge(file, maxBytes);
}

/** True for what this module says of a file. A caller whose file is only a cache then makes it anew. */
export const isUnfit = (error: unknown): error is Fault =>
  error instanceof Fault && (error.code === 'file/not-regular' || error.code === 'file/too-large');

/** Undefined for a regular file. */
export function kindOf(found: Stats): string | undefined {
  if (found.isFile()) return undefined;
  if (found.isDirectory()) return 'a folder';
  if (found.isSymbolicLink()) return 'a link';
  if (found.isFIFO()) return 'a pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}

const notRegular = (file: string, what: string): Fault =>
  new Fault(
    'file/not-regular',
    what === 'a link'
      ? `${file} is a link, and what a link leads to is not taken: put the original in its place.`
      : `${file} is ${what}, and only a regular file can be used here: name another, or put a regular file in its place.`,
  );

const tooLarge = (file: string, maxBytes: number): Fault =>
  new Fault(
    'file/too-large',
    `${file} is larger than ${maxBytes < MB ? `${maxBytes / 1024} kB` : `${maxBytes / MB} MB`}, which no such file is: check that it is the right one.`,
  );

const LIMIT = `${MAX_PASSED_OVER_BYTES / MB} MB`;

const endless = (file: string, what: string): Fault =>
  new Fault('file/too-large', `${file} has ${what}, so it is not read on: check that it is the right file.`);

export const endlessLine = (file: string): Fault => endless(file, `a line longer than ${LIMIT}`);
