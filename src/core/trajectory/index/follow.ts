import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, messageOf } from '../../fault';
import { ifThere } from '../files';
import { summarize } from '../fold';
import { readOn, whyChanged } from '../segment/known';
import { livingOwner, ownerFileOf } from '../segment/owner';
import { MAX_LINE_BYTES } from '../segment/scan';
import { SEGMENT_EXTENSION } from '../segment/writer';
import type { LogIndex } from './logIndex';
import type { IndexedSegment, Problem } from './parts';
import { EpisodeReader } from './reader';

/**
 * The segments of a log, in the order they were begun; none when the folder is not there.
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
 * Why an index no longer fits its log: a segment is gone, shorter than what was read, was rewritten or edited. Undefined
 * when whatever is new in the log simply stands behind what the index has read.
 *
 * @param thoroughly also reads, of each segment that has changed since the index last agreed with it, all that the index
 * has read; without it only a segment is read that has changed and has not grown
 */
export async function whyStale(
  logFolder: string,
  index: LogIndex,
  thoroughly = false,
): Promise<string | undefined> {
  const { segments } = index.parts;
  // A log that many short runs wrote has many segments: ask for several at once, but do not open them all.
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

/** Reads what stands in the log behind what the index has read. Returns the number of bytes read. */
export async function catchUp(logFolder: string, index: LogIndex): Promise<number> {
  let bytes = 0;
  for (const name of await segmentNames(logFolder)) {
    const file = join(logFolder, name);
    const number = index.segment(name);
    const segment = index.parts.segments[number]!;
    bytes += await readOn(
      file,
      segment,
      (buffer, start, end, offset) => index.addLine(number, buffer, start, end, offset),
      () => index.addTooLong(number, MAX_LINE_BYTES),
    );
    const { open } = segment.losses;
    // When the file was written last, all of its lines had been.
    if (open) open.at = Math.floor((await stat(file)).mtimeMs);
  }
  await settle(logFolder, index);
  return bytes;
}

/** Reads the episodes whole of which the index could not tell by single lines what holds. */
export async function settle(logFolder: string, index: LogIndex): Promise<void> {
  index.weighDoubt();
  if (index.unsettled.size === 0) return;
  const { episodes } = index.parts;
  const reader = new EpisodeReader(logFolder, index);
  try {
    for (const row of index.unsettled) {
      if (!episodes.isStarted(row) || index.taskLine(row) < 0) continue;
      const episode = await reader.episode(row);
      if (!episode) continue;
      episodes.restore(row, episode.trajectory, summarize(episode.trajectory));
      if (episode.deleted) episodes.delete(row);
    }
  } finally {
    await reader.close();
  }
  index.unsettled.clear();
}

/** Torn last lines. The last line of a segment that is still being written is not torn, only not there yet. */
export async function tornLines(logFolder: string, segments: readonly IndexedSegment[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { name, tail, lines } of segments) {
    if (tail === 0 || (await livingOwner(ownerFileOf(join(logFolder, name))))) continue;
    const reason = `The last line is torn after ${tail} bytes: its process died, or its disk failed. It is passed over.`;
    problems.push({ file: name, line: lines + 1, reason });
  }
  return problems;
}
