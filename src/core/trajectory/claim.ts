import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, stat, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { Fault, messageOf } from '../fault';
import { readText } from '../regularFile';
import { ifThere, writeAtomically } from './files';
import { SignOfLife, standsFor, whenGone, beginOf, timeAt } from './heartbeat';

/*
 * What only one process may do has a file that names this process. A segment that is being written has it beside it:
 * only commands that rewrite segments look there; readers need no lock, because segments only grow.
 */

const OWNER = '.owner';

const ownerSchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Start of the process, which distinguishes two processes with the same id; null if the system does not tell. */
  began: z.string().nullable(),
});
type Owner = z.infer<typeof ownerSchema>;

export function ownerFileOf(segmentFile: string): string {
  return `${segmentFile}${OWNER}`;
}

/** Names this process in a file until `end`; the file must not exist yet. */
export async function own(file: string): Promise<SignOfLife> {
  const identity = JSON.stringify(await ownIdentity());
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

async function ownIdentity(): Promise<Owner> {
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
function parseOwner<T extends Owner>(ownerFile: string, text: string, schema: z.ZodType<T>): T {
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

/**
 * The exclusive right to play something in a data folder. It ends with the process; for other machines at most ten
 * minutes after that.
 */
export interface Claim {
  release(): Promise<void>;
}

/*
 * Each claimant writes a file with a unique name, so that removing the file of a dead process never removes the claim
 * of a living one. It first writes its whole file and then looks for others: of two that arrive together at least one
 * sees the other, and does not hold the claim. While none holds it, the first by name stays; the others step back and
 * try again.
 */
const claimSchema = ownerSchema.extend({
  isHeld: z.boolean(),
  shard: z.object({ index: z.int(), of: z.int() }).optional(),
});
type ClaimFile = z.infer<typeof claimSchema>;
/** `index` counts from 1. Shards that share nothing may be claimed by several at once. */
export type Shard = NonNullable<ClaimFile['shard']>;
type OtherClaim = ClaimFile & { readonly file: string };

const SUFFIX_BYTES = 4;
const SUFFIX = /^[0-9a-f]{8}\.owner$/;
/** Milliseconds before claimants that arrived together look again. */
const RETRY_INTERVAL_MS = 15;
/** Maximum wait for a claimant that neither holds the claim nor steps back: its process was stopped midway. */
const MAX_WAIT_MS = 30_000;

/**
 * @param folder folder of the claims; created if missing
 * @param name name of what is claimed, any text
 * @param what subject of the error message for a second claimant, e.g. "This dialogue"
 * @param shard part of what is claimed; by default all
 * @throws {Fault} `trajectory/claimed` if it is claimed already, also by this process; `trajectory/not-written`
 */
export async function claimIn(folder: string, name: string, what: string, shard?: Shard): Promise<Claim> {
  const prefix = prefixOf(name);
  const file = join(folder, `${prefix}${randomBytes(SUFFIX_BYTES).toString('hex')}.owner`);
  const release = (): Promise<void> => rm(file, { force: true });
  try {
    for (const begun = performance.now(); ;) {
      await put(file, false, shard);
      let others = await othersOf(folder, prefix, { file, shard });
      while (others.length > 0 && others.every((other) => !other.isHeld && file < other.file)) {
        if (performance.now() - begun > MAX_WAIT_MS) break;
        await sleep(RETRY_INTERVAL_MS);
        others = await othersOf(folder, prefix, { file, shard });
      }
      if (others.length === 0) {
        const held = new SignOfLife(file, await put(file, true, shard));
        return { release: () => held.end() };
      }
      await release();
      const holder = others.find(({ isHeld }) => isHeld);
      if (holder) throw claimed(what, holder);
      if (performance.now() - begun > MAX_WAIT_MS) throw claimed(what, others[0]!);
      await sleep(RETRY_INTERVAL_MS);
    }
  } catch (cause) {
    // If nothing can be written, removing may fail for the same reason; the first error is the one to report.
    await release().catch(() => undefined);
    if (cause instanceof Fault) throw cause;
    const message = `${what} cannot be claimed in ${folder}: ${messageOf(cause)}. Free some space or give permission, then try again.`;
    throw new Fault('trajectory/not-written', message, { cause });
  }
}

/** A readable prefix of a claim's file name, with a hash that makes it unique to the name. */
function prefixOf(name: string): string {
  const readable = name.replaceAll(/[^\w-]/g, '_').slice(0, 60);
  return `${readable}.${createHash('sha256').update(name).digest('hex').slice(0, 16)}.`;
}

async function put(file: string, isHeld: boolean, shard: Shard | undefined): Promise<string> {
  const claim: ClaimFile = { ...(await ownIdentity()), isHeld, shard };
  const text = JSON.stringify(claim);
  await writeAtomically(file, text);
  return text;
}

/** Claims of other processes that may be alive, and overlap with this one. Removes those of processes that are gone. */
async function othersOf(
  folder: string,
  prefix: string,
  own: { readonly file: string; readonly shard: Shard | undefined },
): Promise<OtherClaim[]> {
  const others: OtherClaim[] = [];
  const { mtimeMs: now } = await stat(own.file); // it was just written, at the time of the file system
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (file === own.file || !name.startsWith(prefix) || !SUFFIX.test(name.slice(prefix.length))) continue;
    const text = await ifThere(() => readText(file, 64 * 1024));
    if (text === undefined) continue; // it stepped back
    const claim = parseOwner(file, text, claimSchema);
    if (areApart(claim.shard, own.shard)) continue;
    if (await standsFor(file, claim, now)) others.push({ ...claim, file });
    else await rm(file, { force: true });
  }
  return others;
}

const areApart = (one: Shard | undefined, other: Shard | undefined): boolean =>
  one !== undefined && other !== undefined && one.of === other.of && one.index !== other.index;

function claimed(what: string, other: OtherClaim): Fault {
  const { pid, host, file } = other;
  const who =
    pid === process.pid && host === hostname()
      ? 'this same process'
      : `process ${pid} on ${host}, which may be another window or a command in a terminal`;
  return new Fault(
    'trajectory/claimed',
    `${what} is being played by ${who}. Wait until it is done, or stop it there, and try again; ${whenGone(other, file)}.`,
  );
}
