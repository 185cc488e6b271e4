import { createHash, type Hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, open, rename, rm, type FileHandle, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { openRegular, readText } from '../regularFile';

export interface Version {
  /** The etag without quotes and weak prefix. */
  readonly etag: string;
  readonly size: number;
}

/** Evidence by which a complete file was found to be the hub's; `size` when the etag is no known hash. */
export type Verification = 'sha256' | 'git-sha1' | 'size';
type FileState = Verification | 'absent' | 'different';

const versionSchema = z.object({ etag: z.string(), size: z.number().int().nonnegative() });

/**
 * A file that is being downloaded: `<name>.part` holds the bytes so far, `<name>.part.json` the version that they
 * belong to. The name itself appears only when the file is complete and verified.
 */
export class PartialFile {
  private readonly part: string;
  private readonly sidecar: string;
  private handle: FileHandle | undefined;
  received = 0;

  constructor(readonly file: string) {
    this.part = `${file}.part`;
    this.sidecar = `${file}.part.json`;
  }

  /**
   * Opens what an earlier call left if it belongs to `version`; otherwise starts over.
   * @returns `other-version` when bytes of another version, or of an unknown one, were thrown away
   */
  async open(version: Version): Promise<'new' | 'resumed' | 'other-version'> {
    await this.close();
    await mkdir(dirname(this.file), { recursive: true });
    const there = sizeOf(this.part) ?? 0;
    if (there > 0 && (await this.belongsTo(version)) && there <= version.size) {
      this.handle = await openRegular(this.part, { flags: 'r+', links: 'refused' });
      this.received = there;
      return 'resumed';
    }
    // The bytes are removed before the sidecar changes, so that it never vouches for bytes of another version.
    // Removed first, so that nothing is written to what a link leads to.
    await rm(this.part, { force: true });
    await rm(this.sidecar, { force: true });
    this.handle = await open(this.part, 'wx');
    this.received = 0;
    await writeFile(this.sidecar, JSON.stringify({ etag: version.etag, size: version.size }));
    return there > 0 ? 'other-version' : 'new';
  }

  async append(chunk: Uint8Array): Promise<void> {
    const handle = this.opened();
    for (let written = 0; written < chunk.length;) {
      const { bytesWritten } = await handle.write(chunk, written, chunk.length - written, this.received);
      written += bytesWritten;
      this.received += bytesWritten;
    }
  }

  /** Keeps only this many bytes. */
  async truncate(bytes: number): Promise<void> {
    await this.opened().truncate(bytes);
    this.received = bytes;
  }

  async close(): Promise<void> {
    const handle = this.handle;
    this.handle = undefined;
    await handle?.close();
  }

  async discard(): Promise<void> {
    await this.close();
    await rm(this.part, { force: true });
    await rm(this.sidecar, { force: true });
  }

  verify(version: Version, signal?: AbortSignal): Promise<FileState> {
    return compareFile(this.part, version, signal);
  }

  async complete(): Promise<void> {
    await this.opened().sync();
    await this.close();
    await rename(this.part, this.file);
    await rm(this.sidecar, { force: true });
  }

  private opened(): FileHandle {
    if (!this.handle) throw new Error(`${this.part} is not open.`);
    return this.handle;
  }

  private async belongsTo(version: Version): Promise<boolean> {
    const parsed = versionSchema.safeParse(await readJson(this.sidecar));
    return parsed.success && parsed.data.etag === version.etag && parsed.data.size === version.size;
  }
}

/**
 * Compares a file with what the hub says about it. The hub's etag is the SHA-256 of a file in large-file storage and
 * git's object id (SHA-1 with a header) of any other; another server may send anything, which leaves the size.
 */
export async function compareFile(file: string, version: Version, signal?: AbortSignal): Promise<FileState> {
  const size = sizeOf(file);
  if (size === undefined) return 'absent';
  if (size !== version.size) return 'different';
  if (/^[0-9a-f]{64}$/.test(version.etag)) {
    return (await digest(file, createHash('sha256'), signal)) === version.etag ? 'sha256' : 'different';
  }
  if (/^[0-9a-f]{40}$/.test(version.etag)) {
    const hash = createHash('sha1').update(`blob ${version.size}\0`);
    return (await digest(file, hash, signal)) === version.etag ? 'git-sha1' : 'different';
  }
  return 'size';
}

async function digest(file: string, hash: Hash, signal: AbortSignal | undefined): Promise<string> {
  for await (const chunk of (await openRegular(file)).createReadStream()) {
    signal?.throwIfAborted();
    hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

const sizeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size;

const SIDECAR_BYTES = 64 * 1024;

/** Returns undefined when there is no such file, null when a crash has torn it. */
export async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(file, SIDECAR_BYTES)) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
