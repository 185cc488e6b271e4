import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Fault } from '../../fault';
import { unfinishedErasure } from '../erase';
import { syncFolder, UNFINISHED } from '../files';
import { segmentNames } from '../index/follow';
import { headerOf, readEvent } from '../index/read';
import { TrajectoryLog } from '../log';
import { segmentHeader } from '../segment/header';
import { eventsIn, peek } from '../segment/line';
import { livingOwner, ownerFileOf } from '../segment/owner';
import { sealLine, sealOf } from '../segment/seal';
import { joined, rangesOf, type NumberRange } from '../segment/sequence';
import { isThere, type LogCheck } from './check';

/** What was saved of a log. */
export interface Repair {
  /** A data folder of its own, which holds a `log` and nothing else of the old one. */
  readonly folder: string;
  /** Events that were saved. */
  readonly saved: number;
  /** Lines that are missing, or cannot be read. */
  readonly lost: number;
}

/** Where the repaired log of a data folder goes. */
export function repairedFolder(folder: string): string {
  return `${resolve(folder)}-repaired`;
}

/**
 * Writes what can be saved of a damaged log into a folder beside its data folder, which stays as it is. Lines are saved
 * byte for byte, in the order in which they were written; each segment says which numbers it lost. Dialogues that were
 * damaged stay marked as such, by an event in a segment of its own, and doubtful ones stay doubtful, because the first
 * line of a segment says that lines were lost. The folder has its name only when it is whole.
 *
 * @param found what `checkLog` says of the log
 * @param acceptsLoss a person has said that nothing that matters was lost: nothing is doubtful any more
 * @throws {Fault} `trajectory/repaired-there`, `trajectory/log-in-use`, `trajectory/erasing`, `trajectory/not-written`
 */
export async function repairLog(folder: string, found: LogCheck, acceptsLoss = false): Promise<Repair> {
  const logFolder = join(folder, 'log');
  const target = repairedFolder(folder);
  await refuse(logFolder, target);
  const unfinished = `${target}${UNFINISHED}`;
  await rm(unfinished, { recursive: true, force: true }); // left by a repair that was interrupted
  await mkdir(join(unfinished, 'log'), { recursive: true });
  let saved = 0;
  let lost = 0;
  for (const name of await segmentNames(logFolder)) {
    const segment = saveSegment(
      await readFile(join(logFolder, name)),
      acceptsLoss ? undefined : found.losses[name],
    );
    await writeDurably(join(unfinished, 'log', name), segment.bytes);
    saved += segment.saved;
    lost += segment.lost;
  }
  await markDamaged(unfinished, found);
  await syncFolder(join(unfinished, 'log'));
  await syncFolder(unfinished);
  await rename(unfinished, target);
  await syncFolder(dirname(target));
  return { folder: target, saved, lost };
}

async function refuse(logFolder: string, target: string): Promise<void> {
  if (await isThere(target)) {
    const message = `${target} is there already, and nothing is written over it: move it away, or delete it, and run the command again.`;
    throw new Fault('trajectory/repaired-there', message);
  }
  for (const name of await segmentNames(logFolder)) {
    const owner = await livingOwner(ownerFileOf(join(logFolder, name)));
    if (!owner) continue;
    const message = `Process ${owner.pid} on ${owner.host} is writing to ${join(logFolder, name)}. Close that Tandem and run the command again.`;
    throw new Fault('trajectory/log-in-use', message);
  }
  const plan = await unfinishedErasure(logFolder);
  if (plan === undefined) return;
  const message = `Erasing the data of ${plan.pseudonym} was interrupted: run tandem erase for that pseudonym again before the log is repaired, so that none of it is copied.`;
  throw new Fault('trajectory/erasing', message);
}

interface SavedSegment {
  readonly bytes: Buffer;
  readonly saved: number;
  readonly lost: number;
}

/**
 * What can be saved of the bytes of a segment, with a new first line.
 * @param by until when lines were lost of which nobody can tell what they said
 */
function saveSegment(found: Buffer, by: string | undefined): SavedSegment {
  const lines = [...linesOf(found)];
  const sealed = lines.flatMap((line) => {
    const seal = sealOf(line, 0, line.length);
    return typeof seal === 'object' ? [{ line, number: seal.number }] : [];
  });
  if (sealed.length === 0) return saveOlder(lines, by);
  const byNumber = new Map(sealed.map(({ line, number }) => [number, line]));
  const numbers = [...byNumber.keys()].sort((a, b) => a - b);
  const header = byNumber.get(1);
  byNumber.delete(1);
  const without = (header && headerOf(header)?.without) ?? [];
  const missing = missingFrom([[1, 1], ...rangesOf(numbers), ...without]);
  const first = sealLine(segmentHeader(joined(without, missing), by), 1);
  const kept = numbers.flatMap((number) => byNumber.get(number) ?? []);
  // No number is missing for damaged lines at the end.
  const lost = countOf(missing) + lines.length - 1 - lines.lastIndexOf(sealed.at(-1)!.line);
  const bytes = Buffer.concat([first, ...kept.flatMap((line) => [line, LINE_FEED])]);
  return { bytes, saved: kept.length, lost };
}

/** A segment of an older Tandem, whose lines have neither number nor check sum. */
function saveOlder(lines: readonly Buffer[], by: string | undefined): SavedSegment {
  const kept = lines.filter((line) => !('reason' in readEvent(line)));
  const events = kept.filter((line) => peek(line, 0, line.length)?.kind !== 'segment');
  return {
    bytes: Buffer.concat([segmentHeader([], by), ...events.flatMap((line) => [line, LINE_FEED])]),
    saved: events.length,
    lost: lines.length - kept.length,
  };
}

const LINE_FEED = Buffer.from('\n');

/** The events of a segment's lines, a last one without a line feed too, and what stands where one should be. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found === -1 ? bytes.length : found;
    const isWhole = typeof sealOf(bytes, start, end) === 'object';
    for (const event of isWhole ? [{ start, end }] : eventsIn(bytes, start, end))
      yield bytes.subarray(event.start, event.end);
    start = end + 1;
  }
}

/** The numbers between those that are there. */
function missingFrom(there: readonly NumberRange[]): NumberRange[] {
  const ranges = joined(there, []);
  return ranges.slice(1).map(([first], index) => [ranges[index]![1] + 1, first - 1]);
}

function countOf(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** Nothing of what is left of a damaged dialogue may pass for a whole one. */
async function markDamaged(folder: string, { damaged }: LogCheck): Promise<void> {
  const log = await TrajectoryLog.open(folder);
  try {
    if (damaged.length === 0) return;
    await log.appendAll(
      damaged.map(({ episode, reason }) => ({ event: 'lines-lost', episode, reason })),
      { durable: true },
    );
  } finally {
    await log.close();
  }
}

async function writeDurably(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
