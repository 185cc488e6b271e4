import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, messageOf } from '../../fault';
import type { EventOf } from '../event';
import { ifThere } from '../files';
import { nothingRead, whyChanged, type ReadBytes } from './known';
import type { Losses } from './losses';
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

/** Reading state of a segment. */
export interface ReadSegment extends ReadBytes {
  readonly name: string;
  lines: number;
  /** Number of lines with another version or an unknown kind; they are kept and skipped. */
  unknown: number;
  readonly sequence: Sequence;
  readonly losses: Losses;
}

/** An entry of `older` in a segment's first line. */
export type OlderSegment = NonNullable<EventOf<'segment'>['older']>[number];

/** Reading state of a log. */
export interface ReadLog {
  readonly segments: readonly ReadSegment[];
  /** Recorded contents of segments without check sums, by name. */
  readonly older: Readonly<Record<string, OlderSegment>>;
}

export function unreadSegment(name: string): ReadSegment {
  return { name, ...nothingRead(), lines: 0, unknown: 0, sequence: newSequence(), losses: {} };
}

/**
 * Returns the segments of a log, in the order they were begun; none if the folder does not exist.
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
 * @param thoroughly also reads the known bytes of each segment again that changed since they last matched; without it,
 * only of segments that changed but did not grow
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
