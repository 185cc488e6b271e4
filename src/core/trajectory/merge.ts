import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../fault';
import { MB, readBytes, refuseLinkedFolder } from '../regularFile';
import { refuseWhileErasing } from './erase';
import { ifThere, makeFolder, writeAtomically } from './files';
import { segmentNames } from './segment/segments';

export interface MergedSegments {
  readonly added: number;
  /** Segments that were there already, and have grown in the other log since. */
  readonly grown: number;
  readonly alreadyThere: number;
  /** Names of segments that differ here and there, because a person's data were erased from one of them. */
  readonly different: readonly string[];
}

/**
 * Adds the segments of another log to a log, as if both had always been written to one folder. A segment's name is
 * random, so adding a log again adds only new segments and lines; an interrupted call is continued by the next one.
 * Segments that differ stay as they are here, because what was erased must not come back.
 *
 * @param from the other log's folder; it may be written to meanwhile, and is not changed
 * @param to the log's folder
 * @throws {Fault} `trajectory/no-log` if `from` has no log or is `to`; `trajectory/log-in-use` during an erasure
 * @throws the signal's reason if it is aborted; the segments added until then stay
 */
export async function mergeSegments(from: string, to: string, signal?: AbortSignal): Promise<MergedSegments> {
  refuseLinkedFolder(from);
  const names = await segmentNames(from);
  if (names.length === 0)
    throw new Fault('trajectory/no-log', `${from} has no dialogues: name the data folder of another Tandem.`);
  await makeFolder(to);
  if ((await realpath(from)) === (await realpath(to)))
    throw new Fault(
      'trajectory/no-log',
      `${from} is this log itself: name the data folder of another Tandem.`,
    );
  const counts = { added: 0, grown: 0, alreadyThere: 0 };
  const different: string[] = [];
  for (const name of names) {
    signal?.throwIfAborted();
    await refuseWhileErasing(from);
    await refuseWhileErasing(to);
    const became = await mergeSegment(join(from, name), join(to, name));
    if (became === 'different') different.push(name);
    else if (became !== 'empty') counts[became] += 1;
  }
  return { ...counts, different };
}

/** A process begins the next segment long before. */
const MAX_SEGMENT_BYTES = 1024 * MB;

async function mergeSegment(from: string, to: string): Promise<keyof MergedSegments | 'empty'> {
  const here = await ifThere(() => readBytes(to, MAX_SEGMENT_BYTES));
  const there = wholeLines(await readBytes(from, MAX_SEGMENT_BYTES, { links: 'refused' }));
  if (there.length === 0) return 'empty';
  if (here !== undefined && startsWith(here, there)) return 'alreadyThere';
  if (here !== undefined && !startsWith(there, wholeLines(here))) return 'different';
  await writeAtomically(to, (handle) => handle.writeFile(there));
  return here === undefined ? 'added' : 'grown';
}

/** The last line may be being written. */
const wholeLines = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.lastIndexOf('\n') + 1);

const startsWith = (bytes: Buffer, beginning: Buffer): boolean =>
  bytes.length >= beginning.length && bytes.subarray(0, beginning.length).equals(beginning);
