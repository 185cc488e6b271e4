import { open, readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../../fault';
import { ifThere } from '../files';
import { beginOf, look } from '../running';

/*
 * Each segment that is being written has a file beside it that says which process writes it. Only a command that
 * rewrites segments looks at them; readers need no lock, because segments only grow.
 */

const OWNER = '.owner';

export const ownerSchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Tells two processes of one number apart, where the system says when a process began. */
  began: z.string().nullable(),
});
export type Owner = z.infer<typeof ownerSchema>;

export function ownerFileOf(segmentFile: string): string {
  return `${segmentFile}${OWNER}`;
}

/** Says that this process writes the segment. The file must not be there yet. */
export async function claim(segmentFile: string): Promise<void> {
  const identity = JSON.stringify(await ownIdentity());
  const handle = await open(ownerFileOf(segmentFile), 'wx');
  try {
    await handle.writeFile(identity);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function release(segmentFile: string): Promise<void> {
  await rm(ownerFileOf(segmentFile), { force: true });
}

/** This process, as an owner file names it. */
export async function ownIdentity(): Promise<Owner> {
  return { pid: process.pid, host: hostname(), began: await beginOf(process.pid) };
}

/**
 * The process that an owner file names, when it lives or may live: one on another machine cannot be asked.
 * Undefined when the file is not there, or its process is gone.
 */
export async function livingOwner(ownerFile: string): Promise<Owner | undefined> {
  const text = await ifThere(() => readFile(ownerFile, 'utf8'));
  if (text === undefined || isTorn(text)) return undefined;
  const owner = parseOwner(ownerFile, text);
  return (await mayLive(owner)) ? owner : undefined;
}

/** What a power cut, or being killed, leaves of the file of a process that had not written anything else yet. */
function isTorn(text: string): boolean {
  return !text.endsWith('}') || text.includes('\0');
}

/** False only for a process of this machine that is gone. */
export async function mayLive(owner: Owner): Promise<boolean> {
  if (owner.host !== hostname()) return true;
  const seen = await look(owner.pid);
  if (seen === 'gone') return false;
  return seen === 'cannot tell' || owner.began === null || owner.began === seen.began;
}

function parseOwner(ownerFile: string, text: string): Owner {
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch (cause) {
    const message = `${ownerFile} cannot be read; delete it if no Tandem is running on this data folder.`;
    throw new Fault('trajectory/bad-owner', message, { cause });
  }
}

/**
 * Owner files of processes that are gone are removed on the way.
 * @param own a claim of this process that does not count
 * @throws {Fault} `trajectory/log-in-use` when a process that may live writes to a segment of this folder
 */
export async function refuseWhileWritten(logFolder: string, own: string): Promise<void> {
  for (const name of await readdir(logFolder)) {
    const file = join(logFolder, name);
    if (!name.endsWith(OWNER) || file === ownerFileOf(own)) continue;
    const owner = await livingOwner(file);
    if (owner) {
      throw new Fault(
        'trajectory/log-in-use',
        `Process ${owner.pid} on ${owner.host} is writing to ${file.slice(0, -OWNER.length)}. Close that Tandem and run the command again; if it is not a Tandem, delete ${file}.`,
      );
    }
    await rm(file, { force: true });
  }
}
