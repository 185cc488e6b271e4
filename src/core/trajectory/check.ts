import { join, dirname, resolve } from 'node:path';
import { Fault, messageOf } from '../fault';
import { unfinishedErasure, erasedTest, type LineTest } from './erase';
import { isThere, ifThere, syncFolder, UNFINISHED } from './files';
import { erasedAgain, indexFileOf } from './index/keptIndex';
import { LogIndex } from './index/logIndex';
import { EpisodeReader } from './index/reader';
import type { Row } from './index/rows';
import { lookInto, isSqliteError } from './index/schema';
import { IndexStore } from './index/store';
import { pictureFaults } from './pictures';
import {
  consentsLostIn,
  changedOlder,
  segmentNames,
  tornLines,
  whyStale,
  type LineProblem,
  type ReadLog,
  joined,
  rangesOf,
  type NumberRange,
} from './segment/files';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { MB, readBytes } from '../regularFile';
import { Erased, erasedFileOf } from './erased';
import { headerOf, readEvent, eventsIn, peek, sealLine, sealOf } from './segment/line';
import { TrajectoryLog } from './log';
import { segmentHeader } from './segment/writer';
import { livingOwner, ownerFileOf } from './claim';
import { whenGone } from './heartbeat';

interface DamagedEpisode {
  readonly episode: string;
  readonly reason: string;
}

export interface LogCheck {
  readonly segments: number;
  /** Lines read, good and bad. */
  readonly lines: number;
  /** Dialogues, deleted ones included. */
  readonly episodes: number;
  /** Unreadable lines, and lines before which others are missing. */
  readonly problems: readonly LineProblem[];
  readonly damaged: readonly DamagedEpisode[];
  /** Ids of dialogues that lost lines may have deleted or marked as leaked. */
  readonly doubtful: readonly string[];
  /** Files that lost lines with unknown content, and the latest time of such a line, ISO 8601. */
  readonly losses: Readonly<Record<string, string>>;
  /** Other faults in sentences: of the index, an interrupted erasure, or pictures. */
  readonly remarks: readonly string[];
}

/**
 * Reads the whole log of a data folder and reports its faults. It writes nothing and does not trust the index.
 *
 * @throws {Fault} `trajectory/no-log` if the folder has no log; `trajectory/unreadable`, `file/*`
 * @throws the signal's reason if it is aborted
 */
export async function checkLog(folder: string, signal?: AbortSignal): Promise<LogCheck> {
  const logFolder = join(folder, 'log');
  const names = await segmentNames(logFolder);
  if (names.length === 0) {
    const message = `${logFolder} holds no *.jsonl, so ${folder} is not a data folder with a log: name the one to check, usually .tandem in the workspace.`;
    throw new Fault('trajectory/no-log', message);
  }
  const store = IndexStore.inMemory();
  try {
    await new LogIndex(logFolder, store, () => signal?.throwIfAborted()).catchUp();
    const { segments } = store;
    const rows = store.all('select * from episode where started_at is not null order by number');
    return {
      segments: names.length,
      lines: segments.reduce((sum, { lines }) => sum + lines, 0),
      episodes: rows.length,
      problems: [...store.problems, ...changedOlder(store), ...(await tornLines(logFolder, segments))],
      ...(await episodesOf(logFolder, store, rows, signal)),
      losses: lossesOf(store),
      remarks: [
        ...(await indexRemarks(folder, logFolder)),
        ...(await erasureRemarks(logFolder)),
        ...erasedAgain(store),
        ...(await pictureFaults(logFolder, names)),
      ],
    };
  } finally {
    store.close();
  }
}

/** One that is both counts as damaged. */
async function episodesOf(
  logFolder: string,
  store: IndexStore,
  rows: readonly Row[],
  signal: AbortSignal | undefined,
): Promise<Pick<LogCheck, 'damaged' | 'doubtful'>> {
  const damaged: DamagedEpisode[] = [];
  const doubtful: string[] = [];
  const reader = new EpisodeReader(logFolder, store);
  try {
    for (const row of rows) {
      signal?.throwIfAborted();
      const episode = String(row.id);
      const read = await reader.episode(Number(row.number), episode).catch((error: unknown) => {
        if (error instanceof Fault && error.code === 'trajectory/task-missing') return error;
        throw error;
      });
      const reason = read instanceof Fault ? read.message : read?.trajectory.damaged;
      if (reason !== undefined) damaged.push({ episode, reason });
      else if (row.doubtful === 1 && row.deleted === 0) doubtful.push(episode);
    }
  } finally {
    await reader.close();
  }
  return { damaged, doubtful };
}

function lossesOf(log: ReadLog): Record<string, string> {
  const losses = log.segments.map((segment) => [segment.name, consentsLostIn(log, segment)] as const);
  return Object.fromEntries(
    losses.flatMap(([name, at]) => (at > 0 ? [[name, new Date(at).toISOString()]] : [])),
  );
}

async function indexRemarks(folder: string, logFolder: string): Promise<string[]> {
  const file = indexFileOf(folder);
  if (!(await isThere(file))) return [];
  const segments = readIndex(file);
  const reason = 'reason' in segments ? segments.reason : await whyStale(logFolder, segments, true);
  return reason === undefined
    ? []
    : [`The index ${file} does not fit the log: ${reason}. It is made anew when the log is opened.`];
}

function readIndex(file: string): ReturnType<typeof lookInto> {
  try {
    return lookInto(file, true);
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    return { reason: `it cannot be opened (${messageOf(error)})` };
  }
}

async function erasureRemarks(logFolder: string): Promise<string[]> {
  try {
    const plan = await unfinishedErasure(logFolder);
    if (plan === undefined) return [];
    return [
      `Erasing the data of ${plan.pseudonym} was interrupted: run tandem erase for that pseudonym again; until then some of it is still in the log.`,
    ];
  } catch (error) {
    if (error instanceof Fault) return [error.message];
    throw error;
  }
}

export interface Repair {
  /** A new data folder with only a `log`. */
  readonly folder: string;
  readonly saved: number;
  readonly lost: number;
}

export function repairedFolder(folder: string): string {
  return `${resolve(folder)}-repaired`;
}

/**
 * Saves what it can of a damaged log into a folder beside its data folder, which stays as it is. Lines are saved byte
 * for byte, in the order they were written; each segment lists the numbers it lost. Damaged dialogues stay marked, by
 * an event in a separate segment, and doubtful ones stay doubtful, because the first line of a segment says that lines
 * were lost. Lines that were erased before and came back with a copied file are left out. The folder gets its name only
 * when it is complete.
 *
 * @param found result of `checkLog`
 * @param acceptsLoss true if a person has confirmed that nothing important was lost: then no dialogue is doubtful
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
  const names = await segmentNames(logFolder);
  const erased = await ifThere(() => readBytes(erasedFileOf(logFolder), 64 * MB));
  if (erased !== undefined) await writeDurably(erasedFileOf(join(unfinished, 'log')), erased);
  const isErased = (await erasedTest(logFolder, names, await Erased.read(logFolder))) ?? (() => false);
  for (const name of names) {
    const segment = saveSegment(
      await readBytes(join(logFolder, name), 1024 * MB),
      acceptsLoss ? undefined : found.losses[name],
      isErased,
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
    const file = ownerFileOf(join(logFolder, name));
    const owner = await livingOwner(file);
    if (!owner) continue;
    const message = `Process ${owner.pid} on ${owner.host} is writing to ${join(logFolder, name)}. Close that Tandem and run the command again; ${whenGone(owner, file)}.`;
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
 * With a new first line.
 * @param by latest time of lost lines with unknown content
 */
function saveSegment(found: Buffer, by: string | undefined, isErased: LineTest): SavedSegment {
  const lines = [...linesOf(found)];
  const sealed = lines.flatMap((line) => {
    const seal = sealOf(line);
    return typeof seal === 'number' ? [{ line, number: seal }] : [];
  });
  if (sealed.length === 0) return saveOlder(lines, by, isErased);
  const byNumber = new Map(sealed.map(({ line, number }) => [number, line]));
  const numbers = [...byNumber.keys()].sort((a, b) => a - b);
  const header = byNumber.get(1);
  byNumber.delete(1);
  const { without = [], imported } = (header && headerOf(header)) ?? {};
  const missing = missingFrom([[1, 1], ...rangesOf(numbers), ...without]);
  const erased = numbers.filter((number) => byNumber.has(number) && isErased(byNumber.get(number)!));
  for (const number of erased) byNumber.delete(number);
  const first = sealLine(
    segmentHeader(joined(joined(without, missing), rangesOf(erased)), by, [], imported),
    1,
  );
  const kept = numbers.flatMap((number) => byNumber.get(number) ?? []);
  // Damaged lines at the end leave no gap in the numbers, so they are added.
  const lost = countOf(missing) + lines.length - 1 - lines.lastIndexOf(sealed.at(-1)!.line);
  const bytes = Buffer.concat([first, ...kept.flatMap((line) => [line, LINE_FEED])]);
  return { bytes, saved: kept.length, lost };
}

/** The lines of an older Tandem have neither numbers nor check sums. */
function saveOlder(lines: readonly Buffer[], by: string | undefined, isErased: LineTest): SavedSegment {
  const kept = lines.filter((line) => !('reason' in readEvent(line)));
  const events = kept.filter((line) => peek(line)?.kind !== 'segment' && !isErased(line));
  return {
    bytes: Buffer.concat([segmentHeader([], by), ...events.flatMap((line) => [line, LINE_FEED])]),
    saved: events.length,
    lost: lines.length - kept.length,
  };
}

const LINE_FEED = Buffer.from('\n');

/** Including a last line without a line feed, and unreadable lines. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    if (typeof sealOf(line) === 'number') yield line;
    else for (const { event } of eventsIn(line)) yield event;
    start = end + 1;
  }
}

function missingFrom(there: readonly NumberRange[]): NumberRange[] {
  const ranges = joined(there, []);
  return ranges.slice(1).map(([first], index) => [ranges[index]![1] + 1, first - 1]);
}

function countOf(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** So that their remains are not taken for complete dialogues. */
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
