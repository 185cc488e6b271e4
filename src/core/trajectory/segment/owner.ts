import { open, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../../fault';
import { readText } from '../../regularFile';
import { ifThere } from '../files';
import { beginOf } from '../processState';
import { SignOfLife, standsFor, timeAt, whenGone } from '../heartbeat';

/*
 * Each segment that is being written has a file beside it that names its process. Only commands that rewrite segments
 * look at these files; readers need no lock, because segments only grow.
 */

const OWNER = '.owner';

export const ownerSchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Start of the process, which distinguishes two processes with the same id; null if the system does not tell. */
  began: z.string().nullable(),
});
export type Owner = z.infer<typeof ownerSchema>;

export function ownerFileOf(segmentFile: string): string {
  return `${segmentFile}${OWNER}`;
}

/** Until `end`; the owner file must not exist yet. */
export async function claim(segmentFile: string): Promise<SignOfLife> {
  const identity = JSON.stringify(await ownIdentity());
  const file = ownerFileOf(segmentFile);
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(identity);
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return new SignOfLife(file, identity);
}

export async function ownIdentity(): Promise<Owner> {
  return { pid: process.pid, host: hostname(), began: await beginOf(process.pid) };
}

/**
 * The process in an owner file, if it is or may be alive, see `standsFor`.
 * @param now present time of the file system, which a caller that writes because of the answer must give
 */
export async function livingOwner(ownerFile: string, now?: number): Promise<Owner | undefined> {
  const text = await ifThere(() => readText(ownerFile, 64 * 1024));
  if (text === undefined || isTorn(text)) return undefined;
  const owner = parseOwner(ownerFile, text, ownerSchema);
  return (await standsFor(ownerFile, owner, now)) ? owner : undefined;
}

/** True if a process of another machine may be writing to a segment. */
export async function isWrittenElsewhere(segmentFile: string): Promise<boolean> {
  const owner = await livingOwner(ownerFileOf(segmentFile));
  return owner !== undefined && owner.host !== hostname();
}

/** Cut off by a crash; the process had not written anything else yet. */
function isTorn(text: string): boolean {
  return !text.endsWith('}') || text.includes('\0');
}

/** @throws {Fault} `trajectory/bad-owner` */
export function parseOwner<T extends Owner>(ownerFile: string, text: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    const message = `${ownerFile} cannot be read; delete it if no Tandem is running on this data folder.`;
    throw new Fault('trajectory/bad-owner', message, { cause });
  }
}

/**
 * Also removes the owner files of processes that are gone.
 * @param own claim of this process that does not count
 * @throws {Fault} `trajectory/log-in-use` if a process that may be alive writes to a segment of this folder
 */
export async function refuseWhileWritten(logFolder: string, own: string): Promise<void> {
  const now = await timeAt(logFolder);
  for (const name of await readdir(logFolder)) {
    const file = join(logFolder, name);
    if (!name.endsWith(OWNER) || file === ownerFileOf(own)) continue;
    const owner = await livingOwner(file, now);
    if (owner) {
      throw new Fault(
        'trajectory/log-in-use',
        `Process ${owner.pid} on ${owner.host} is writing to ${file.slice(0, -OWNER.length)}. Close that Tandem and run the command again; ${whenGone(owner, file)}.`,
      );
    }
    await rm(file, { force: true });
  }
}
