import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, messageOf } from '../../fault';
import type { EventOf } from '../event';
import { ifThere } from '../files';
import { byNow, type Seal } from './line';
import { nothingRead, whyChanged, type ReadBytes } from './reader';
import { livingOwner, ownerFileOf } from '../claim';

export const SEGMENT_EXTENSION = '.jsonl';

/** An unreadable line of the log, or one before which lines are missing. */
export interface LineProblem {
  readonly file: string;
  /** Line number, from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface ReadSegment extends ReadBytes {
  readonly name: string;
  lines: number;
  /** Lines with another version or an unknown kind; they are kept and skipped. */
  unknown: number;
  /** Lines that were erased and have come back with a copied file; they are skipped until the next erasure. */
  erased?: number;
  readonly sequence: Sequence;
  readonly losses: Losses;
  /** The data folder that it was imported from; undefined for one's own. */
  origin?: string;
}

export type OlderSegment = NonNullable<EventOf<'segment'>['older']>[number];

export interface ReadLog {
  readonly segments: readonly ReadSegment[];
  /** Recorded contents of segments without check sums, by name. */
  readonly older: Readonly<Record<string, OlderSegment>>;
}

export function unreadSegment(name: string): ReadSegment {
  return { name, ...nothingRead(), lines: 0, unknown: 0, sequence: newSequence(), losses: {} };
}

/**
 * In the order they were begun; none if the folder does not exist.
 * @throws {Fault} `trajectory/unreadable`
 */
export async function segmentNames(logFolder: string): Promise<string[]> {
  const names = await ifThere(() => readdir(logFolder)).catch((cause: unknown) => {
    const message = `The log in ${logFolder} cannot be read: ${messageOf(cause)}. Check the data folder in the settings.`;
    throw new Fault('trajectory/unreadable', message, { cause });
  });
  return (names ?? []).filter((name) => name.endsWith(SEGMENT_EXTENSION)).sort();
}

/**
 * Returns why a log no longer matches what was read of it: a segment is gone, shorter, rewritten or edited. Undefined
 * if the log is unchanged or only grew.
 *
 * @param thoroughly also reads known bytes again of each segment that changed since they last matched; without it, only
 *   of segments that changed but did not grow
 */
export async function whyStale(
  logFolder: string,
  segments: readonly ReadSegment[],
  thoroughly = false,
): Promise<string | undefined> {
  // A log written by many short runs has many segments: several are checked at once, but not all are opened.
  for (let from = 0; from < segments.length; from += FILES_AT_ONCE) {
    const some = segments.slice(from, from + FILES_AT_ONCE);
    const reasons = await Promise.all(
      some.map((segment) => whyChanged(join(logFolder, segment.name), segment, thoroughly)),
    );
    const changed = reasons.findIndex((reason) => reason !== undefined);
    if (changed !== -1) return `${some[changed]!.name} ${reasons[changed]}`;
  }
  return undefined;
}

const FILES_AT_ONCE = 64;

/** Returns the torn last lines. The last line of a segment that is still being written is incomplete, but not torn. */
export async function tornLines(logFolder: string, segments: readonly ReadSegment[]): Promise<LineProblem[]> {
  const problems: LineProblem[] = [];
  for (const { name, tail, lines } of segments) {
    if (tail === 0 || (await livingOwner(ownerFileOf(join(logFolder, name))))) continue;
    const reason = `The last line is torn after ${tail} bytes: its process died, or its disk failed. It is passed over.`;
    problems.push({ file: name, line: lines + 1, reason });
  }
  return problems;
}

/*
 * A line that is lost, or damaged beyond its beginning, may have deleted a dialogue, marked a leak in it, or withdrawn
 * a consent. The last such line of a segment puts in doubt everything that earlier ones do, so only the last is kept.
 */

/** Lines of a segment with unknown content. */
interface Losses {
  /** The last gap that is followed by a readable line. */
  gap?: Gap;
  /** Lost lines after the last readable one; their time is known once the whole file was read. */
  open?: Gap & { isAnything: boolean; isConsent: boolean };
  /** Latest time at which a consent may have been lost, in milliseconds since 1970. */
  consentsBy?: number;
  /** Latest time of lines lost before the segment was rewritten, according to its first line; same unit. */
  lostBy?: number;
}

interface Gap {
  /** Byte offset: events of the segment from here on follow the gap. */
  readonly offset: number;
  /** Latest time of the lost lines, in milliseconds since 1970. */
  at: number;
}

/** The largest time of a `Date`. */
const FOREVER = 8.64e15;

/** @param what kinds of events the unreadable line may have been */
export function lose(losses: Losses, offset: number, what: 'anything' | 'consent'): void {
  losses.open ??= { offset, at: FOREVER, isAnything: false, isConsent: false };
  losses.open[what === 'consent' ? 'isConsent' : 'isAnything'] = true;
}

/**
 * Records a readable line that follows unreadable or missing ones.
 * @param isAfterGap whether the numbers show that lines with unknown content are lost before it; undefined where there
 *   are no numbers
 */
export function readAgain(losses: Losses, isAfterGap: boolean | undefined, offset: number, at: number): void {
  const { open } = losses;
  delete losses.open;
  if (isAfterGap ?? open?.isAnything) losses.gap = { offset, at: byNow(at) };
  else if (open?.isConsent) losses.consentsBy = byNow(at);
}

/** Lines were lost here, and their content is unknown. */
export interface LostLines {
  /** Number of the segment, from 0. */
  readonly segment: number;
  /** Byte offset from which events of the segment follow the loss; undefined if only the time is known. */
  readonly offset: number | undefined;
  /** Latest time of the lost lines, in milliseconds since 1970. */
  readonly at: number;
}

/** The last loss of each segment; a changed segment without check sums may have lost any lines. */
export function lostLines(log: ReadLog): LostLines[] {
  return log.segments.flatMap((read, segment) => {
    const { gap, open, lostBy } = read.losses;
    const changed = changedSince(log, read);
    const last = open?.isAnything ? open : gap;
    return [
      ...(last === undefined ? [] : [{ segment, offset: last.offset, at: last.at }]),
      ...[lostBy, changed].flatMap((at) => (at === undefined ? [] : [{ segment, offset: undefined, at }])),
    ];
  });
}

/** Latest time at which a consent may have been lost, in milliseconds since 1970; -Infinity if none was. */
export function consentsLostBy(log: ReadLog): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...log.segments.map((segment) => consentsLostIn(log, segment)));
}

export function consentsLostIn(log: ReadLog, segment: ReadSegment): number {
  const { gap, open, consentsBy, lostBy } = segment.losses;
  const times = [gap?.at, open?.at, consentsBy, lostBy, changedSince(log, segment)];
  return Math.max(Number.NEGATIVE_INFINITY, ...times.filter((at) => at !== undefined));
}

/*
 * Segments of older Tandems have no check sums in their lines. Each new segment records in its first line the contents
 * of the older ones, each once, so that later changes are detected. A segment that is rewritten on purpose gets another
 * first line, and is recorded again.
 */

/**
 * Contents of the segments without check sums to which no process writes any more.
 * @param newest time of the newest event, in milliseconds since 1970
 */
export async function notYetNoted(
  logFolder: string,
  { segments, older }: ReadLog,
  newest: number,
): Promise<OlderSegment[]> {
  const until = new Date(newest).toISOString();
  const noted: OlderSegment[] = [];
  for (const { name, sequence, fingerprint, scanned: bytes, sum } of segments) {
    if (sequence.isSealed || fingerprint === undefined || older[name]?.fingerprint === fingerprint) continue;
    if (await livingOwner(ownerFileOf(join(logFolder, name)))) continue;
    noted.push({ name, fingerprint, bytes, sum, until });
  }
  return noted;
}

/** Latest time of the lines of a segment that no longer matches its recorded contents, in milliseconds since 1970. */
function changedSince({ older }: ReadLog, segment: ReadSegment): number | undefined {
  // A segment with check sums needs no note, so one that names it is wrong.
  const noted = segment.sequence.isSealed ? undefined : older[segment.name];
  if (noted === undefined || noted.fingerprint !== segment.fingerprint) return undefined;
  return noted.bytes === segment.scanned && noted.sum === segment.sum
    ? undefined
    : byNow(Date.parse(noted.until));
}

export function changedOlder(log: ReadLog): LineProblem[] {
  return log.segments.flatMap((segment) => {
    if (changedSince(log, segment) === undefined) return [];
    const reason =
      'The file was changed after its check sum was noted in a later one; its lines have none, so nobody can tell which.';
    return [{ file: segment.name, line: 1, reason }];
  });
}

export type NumberRange = readonly [first: number, last: number];

/** As far as the segment was read. */
export interface Sequence {
  /** Number of the last readable line; 0 before the first. */
  last: number;
  /** True after the first line with a seal; from then on every line must have one. */
  isSealed: boolean;
  /** Number of lines without a number since the last line with one; each accounts for one number. */
  unreadable: number;
  /** Number of those lines that are known to be about something. */
  told: number;
  /** Ascending ranges of numbers that were removed on purpose, according to the segment's first line. */
  without: readonly NumberRange[];
}

export function newSequence(): Sequence {
  return { last: 0, isSealed: false, unreadable: 0, told: 0, without: [] };
}

/** Result for a line: `refused` says why it is skipped, `missing` which lines are missing before it. */
interface LineVerdict {
  readonly refused?: string;
  readonly missing?: string;
  /** True if lines with unknown content are lost before it; undefined where there are no numbers. */
  readonly isAfterGap?: boolean;
}

/** @param kind kind of the event, if the front of the line is readable */
export function follow(sequence: Sequence, seal: Seal, kind: string | undefined): LineVerdict {
  if (seal === 'none' && !sequence.isSealed) {
    sequence.unreadable += 1;
    sequence.told += 1;
    return {};
  }
  const what = (): string => (kind === undefined ? 'line' : `${kind} event`);
  if (seal === 'none' || seal === 'broken') {
    sequence.isSealed = true;
    sequence.unreadable += 1;
    const fault =
      seal === 'broken'
        ? 'was changed after it was written: its check sum is wrong'
        : 'has no check sum, though the lines before it have one: it was changed, or another program wrote it';
    return { refused: `The ${what()} ${fault}. It is passed over.` };
  }
  sequence.isSealed = true;
  const number = seal;
  if (number <= sequence.last)
    return {
      refused: `The ${what()} stands in a wrong place, or for a second time: it has number ${number} after number ${sequence.last}. It is passed over.`,
    };
  const between = number - sequence.last - 1 - removedBetween(sequence, sequence.last, number);
  const missing = between - sequence.unreadable;
  const isAfterGap = between > sequence.told;
  const before = sequence.last;
  sequence.last = number;
  sequence.unreadable = 0;
  sequence.told = 0;
  if (missing <= 0) return { isAfterGap };
  const lines = missing === 1 ? '1 line is' : `${missing} lines are`;
  return {
    isAfterGap,
    missing: `${lines} missing before this one, which has number ${number}: the last one before it that can be read has ${before === 0 ? 'none' : `number ${before}`}.`,
  };
}

/** How many numbers between the two were removed on purpose. There may be as many ranges as lines. */
function removedBetween({ without }: Sequence, after: number, before: number): number {
  let sum = 0;
  for (let index = firstEndingAfter(without, after); index < without.length; index += 1) {
    const [first, last] = without[index]!;
    if (first >= before) break;
    sum += Math.min(last, before - 1) - Math.max(first, after + 1) + 1;
  }
  return sum;
}

/** Index of the first of ascending ranges that ends after the number. */
function firstEndingAfter(ranges: readonly NumberRange[], number: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]![1] <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function rangesOf(numbers: readonly number[]): NumberRange[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** The union of two lists, as ascending ranges. */
export function joined(one: readonly NumberRange[], other: readonly NumberRange[]): NumberRange[] {
  const ranges: [number, number][] = [];
  for (const [first, last] of [...one, ...other].sort(([a], [b]) => a - b)) {
    const before = ranges.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else ranges.push([first, last]);
  }
  return ranges;
}
