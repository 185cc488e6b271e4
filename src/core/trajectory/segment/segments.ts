import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, messageOf } from '../../fault';
import type { EventOf } from '../event';
import { ifThere } from '../files';
import { byNow } from './future';
import { nothingRead, whyChanged, type ReadBytes } from './readBytes';
import { livingOwner, ownerFileOf } from './owner';
import { newSequence, type Sequence } from './sequence';
import { SEGMENT_EXTENSION } from './writer';

/** An unreadable line of the log, or one before which lines are missing. */
export interface LineProblem {
  readonly file: string;
  /** Line number, from 1. */
  readonly line: number;
  /** One sentence. */
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
