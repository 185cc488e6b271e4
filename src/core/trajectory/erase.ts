import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { MB, readText } from '../regularFile';
import { Erased, keyOf, personOf } from './erased';
import type { EventOf, LogEvent } from './event';
import { ifThere, isErrorCode, isThere, LineWriter, syncFolder, UNFINISHED, writeAtomically } from './files';
import { removeUnnamedPictures } from './pictures';
import { segmentNames, joined, rangesOf, type NumberRange } from './segment/files';
import { headerOf, readEvent, beginningOf, peek, sealLine, sealOf } from './segment/line';
import { segmentHeader } from './segment/writer';
import { own, livingOwner, ownerFileOf, refuseWhileWritten } from './claim';
import { scanLines } from './segment/reader';
import { timeAt, whenGone, type SignOfLife } from './heartbeat';

export interface Erasure {
  readonly episodes: number;
  readonly lines: number;
}

/*
 * The plan is saved before the first segment is rewritten: once the line that names the developer is gone, later
 * segments do not show which lines belong to the same episode.
 */
const planSchema = z.object({ pseudonym: z.string(), episodes: z.array(z.string()) });
type ErasurePlan = z.infer<typeof planSchema>;

const planOf = (logFolder: string): string => join(logFolder, 'erasing.json');
/** While the lock's owner file exists, other processes cannot begin a segment. */
const lockOf = (logFolder: string): string => join(logFolder, 'erasing');

/** @throws {Fault} `trajectory/bad-plan` */
export async function unfinishedErasure(logFolder: string): Promise<ErasurePlan | undefined> {
  const text = await ifThere(() => readText(planOf(logFolder), 256 * MB));
  if (text === undefined) return undefined;
  try {
    return planSchema.parse(JSON.parse(text));
  } catch (cause) {
    const message = `${planOf(logFolder)} says what an interrupted erasure takes out of the log, and cannot be read. Delete it and erase the data of that developer again.`;
    throw new Fault('trajectory/bad-plan', message, { cause });
  }
}

/** @throws {Fault} `trajectory/log-in-use` while a process that may be alive erases a developer's data */
export async function refuseWhileErasing(logFolder: string): Promise<void> {
  const lock = ownerFileOf(lockOf(logFolder));
  if (!(await isThere(lock))) return;
  const owner = await livingOwner(lock, await timeAt(logFolder));
  if (!owner) return;
  throw new Fault(
    'trajectory/log-in-use',
    `Process ${owner.pid} on ${owner.host} is erasing a developer's data from ${logFolder}. Wait until it is done; ${whenGone(owner, lock)}.`,
  );
}

/**
 * Rewrites the segments of a log without a developer's data, and without what was erased before and has come back with a
 * copied file. Every other line stays byte for byte and in order, unknown kinds and versions included; only tasks that
 * nothing plays any more and unreadable lines are removed, because they may be the developer's. The first line of a
 * rewritten segment lists the numbers of the erased lines, so that they are not reported as missing, and says whether
 * unreadable lines were removed, because their content stays in doubt. Pictures that no line names any more are deleted.
 *
 * Each segment is replaced atomically. After a crash at any point the next call finishes the work, before its own.
 *
 * @param dropIndex removes the indexes of all machines and unfinished copies of them, because they repeat the pseudonym
 * @throws {Fault} `trajectory/log-in-use`
 */
export async function erase(
  logFolder: string,
  pseudonym: string,
  dropIndex: () => Promise<void>,
): Promise<Erasure> {
  if ((await segmentNames(logFolder)).length === 0) return { episodes: 0, lines: 0 };
  const held = await lock(logFolder);
  try {
    await refuseWhileWritten(logFolder, lockOf(logFolder));
    await removeUnfinished(logFolder);
    await dropIndex();
    const begun = await unfinishedErasure(logFolder);
    if (begun) await carryOut(logFolder, begun);
    const episodes = await episodesOf(logFolder, pseudonym);
    const lines = await carryOut(logFolder, { pseudonym, episodes });
    const finished = begun?.pseudonym === pseudonym ? begun.episodes : [];
    return { episodes: new Set([...finished, ...episodes]).size, lines };
  } finally {
    await held.end();
  }
}

async function lock(logFolder: string): Promise<SignOfLife> {
  for (;;) {
    try {
      return await own(ownerFileOf(lockOf(logFolder)));
    } catch (error) {
      if (!isErrorCode(error, 'EEXIST')) throw error;
    }
    await refuseWhileErasing(logFolder);
    await rm(ownerFileOf(lockOf(logFolder)), { force: true }); // its process is gone
  }
}

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true });
  }
}

/**
 * Episodes in which the developer played the agent or the collaborator, replied, or chose between candidates, and their
 * forks.
 */
export async function episodesOf(logFolder: string, pseudonym: string): Promise<string[]> {
  const mayName = nameTest(pseudonym);
  const episodes = new Set<string>();
  for (const name of await segmentNames(logFolder)) {
    await scanLines(join(logFolder, name), 0, (line) => {
      if (peek(line) && !mayName(line)) return;
      const read = readEvent(line);
      if ('event' in read && seats(read.event, pseudonym)) episodes.add(read.event.episode);
    });
  }
  return [...episodes];
}

function seats(event: LogEvent, pseudonym: string): event is LogEvent & { episode: string } {
  switch (event.event) {
    case 'episode-started':
      return (
        (event.collaborator.kind === 'developer' && event.collaborator.name === pseudonym) ||
        event.parent?.people.includes(pseudonym) === true
      );
    case 'hand-over':
      return event.to.kind === 'developer' && event.to.name === pseudonym;
    case 'agent-turn':
    case 'choice':
      return event.by === pseudonym;
    case 'reply':
      return event.author !== 'simulator' && event.by === pseudonym;
    default:
      return false;
  }
}

async function carryOut(logFolder: string, plan: ErasurePlan): Promise<number> {
  await writeAtomically(planOf(logFolder), JSON.stringify(plan));
  const names = await segmentNames(logFolder);
  const erased = await Erased.read(logFolder);
  const test = lineTest(plan, erased);
  const keys = new Set<string>();
  const { played, tasks } = await tasksIn(logFolder, names, test, keys);
  const unplayed = [...tasks].filter((task) => !played.has(task));
  // Remembered first: after a crash, a line that is gone cannot be recognised in a copied file.
  await erased.remember(logFolder, { episodes: plan.episodes, tasks: unplayed, lines: keys });
  const goes: LineTest = (line) => test(line) || isUnplayedTask(line, played);
  let lines = 0;
  for (const name of names) lines += await rewrite(join(logFolder, name), goes, plan.pseudonym);
  await removeUnnamedPictures(logFolder, names);
  await rm(planOf(logFolder), { force: true });
  await syncFolder(logFolder);
  return lines;
}

export type LineTest = (line: Buffer) => boolean;

/**
 * True if the line may name the person. A line that another program wrote may spell the name with other escapes, so one
 * with such escapes must be parsed.
 */
function nameTest(pseudonym: string): LineTest {
  const needle = Buffer.from(JSON.stringify(pseudonym));
  return (line) => line.includes(needle) || line.includes('\\u') || line.includes('\\/');
}

function lineTest({ pseudonym, episodes }: ErasurePlan, erased: Erased): LineTest {
  const gone = new Set(episodes);
  const mayName = nameTest(pseudonym);
  const name = JSON.stringify(pseudonym);
  return (line) => {
    const front = peek(line);
    if (front?.episode !== undefined && gone.has(front.episode)) return true;
    if (erased.covers(front, line)) return true;
    if (front && !mayName(line)) return false;
    const read = readEvent(line);
    if ('reason' in read) return true;
    if ('unknown' in read) {
      const { episode } = read.unknown;
      return (
        (typeof episode === 'string' && gone.has(episode)) || JSON.stringify(read.unknown).includes(name)
      );
    }
    const { event } = read;
    if ('episode' in event && gone.has(event.episode)) return true;
    // A rating or another statement about another person's dialogue. A reply is kept: a simulator may have the same
    // name.
    return personOf(event) === pseudonym;
  };
}

/**
 * The tasks of a log, and those that are still played once the lines go for which `goes` is true: a task of a person's
 * own function is their words, and its line belongs to no episode.
 * @param keys gets the keys of the lines that go
 */
async function tasksIn(
  logFolder: string,
  names: readonly string[],
  goes: LineTest,
  keys?: Set<string>,
): Promise<{ readonly played: ReadonlySet<string>; readonly tasks: ReadonlySet<string> }> {
  const played = new Set<string>();
  const tasks = new Set<string>();
  for (const name of names) {
    await scanLines(join(logFolder, name), 0, (line) => {
      const isGoing = goes(line);
      const kind = peek(line)?.kind;
      if (!isGoing && kind !== undefined && kind !== 'task' && kind !== 'episode-started') return;
      const read = readEvent(line);
      if (isGoing) {
        const key = keyOf(read, line);
        if (key !== undefined) keys?.add(key);
        return;
      }
      const task = taskIn(read);
      if (task !== undefined) (taskOf(read) === undefined ? played : tasks).add(task);
    });
  }
  return { played, tasks };
}

function taskOf(read: ReturnType<typeof readEvent>): string | undefined {
  return 'event' in read && read.event.event === 'task' ? read.event.task.id : undefined;
}

/** The id of the task that the line holds or plays; a newer Tandem may write another kind that plays one. */
function taskIn(read: ReturnType<typeof readEvent>): string | undefined {
  if ('event' in read && read.event.event === 'episode-started') return read.event.task;
  if ('unknown' in read && typeof read.unknown.task === 'string') return read.unknown.task;
  return taskOf(read);
}

function isUnplayedTask(line: Buffer, played: ReadonlySet<string>, erased?: Erased): boolean {
  const front = peek(line);
  if (front && front.kind !== 'task') return false;
  const task = taskOf(readEvent(line));
  return task !== undefined && !played.has(task) && (erased === undefined || erased.hasTask(task));
}

/**
 * True for the lines of segments that bring back what was erased; undefined if nothing was.
 * @param from folder of the segments, which may be another log's
 */
export async function erasedTest(
  from: string,
  names: readonly string[],
  erased: Erased,
): Promise<LineTest | undefined> {
  if (erased.isEmpty) return undefined;
  const test: LineTest = (line) => erased.covers(peek(line), line);
  const { played } = await tasksIn(from, names, test);
  return (line) => test(line) || isUnplayedTask(line, played, erased);
}

/**
 * Leaves a segment alone if `goes` selects none of its lines.
 * @returns the number of removed lines
 */
async function rewrite(file: string, goes: LineTest, pseudonym: string): Promise<number> {
  let lines = 0;
  let isSealed = false;
  let without: readonly NumberRange[] = [];
  let lost: string | undefined;
  let older: EventOf<'segment'>['older'];
  let imported: EventOf<'segment'>['imported'];
  const erased: number[] = [];
  const { tail } = await scanLines(file, 0, (line) => {
    const seal = sealOf(line);
    isSealed ||= typeof seal === 'number';
    if (peek(line)?.kind === 'segment') {
      const header = headerOf(line);
      without = joined(without, header?.without ?? []);
      lost ??= header?.lost;
      older ??= header?.older;
      imported ??= header?.imported;
    }
    if (!goes(line)) return;
    lines += 1;
    // Its content is unknown, but it was written before now.
    if ('reason' in readEvent(line) && beginningOf(line).episode === undefined)
      lost = new Date().toISOString();
    if (typeof seal === 'number') erased.push(seal);
  });
  const isOther = ([, here]: readonly [string, string]): boolean => here !== pseudonym;
  if (lines === 0 && tail === 0 && imported?.people.every(isOther) !== false) return 0;
  await writeAtomically(file, async (handle) => {
    const from = imported && { ...imported, people: imported.people.filter(isOther) };
    const header = segmentHeader(joined(without, rangesOf(erased)), lost, older, from);
    const written = new LineWriter(handle);
    written.put(isSealed ? sealLine(header, 1) : header);
    await scanLines(file, 0, (line) => {
      if (!goes(line) && peek(line)?.kind !== 'segment') written.put(Buffer.concat([line, LINE_FEED]));
    });
    written.flush();
  });
  return lines + (tail > 0 ? 1 : 0);
}

const LINE_FEED = Buffer.from('\n');
