import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../fault';
import { unfinishedErasure } from '../erase';
import { ifThere } from '../files';
import { consentsLostIn } from '../index/doubt';
import { catchUp, segmentNames, tornLines, whyStale } from '../index/follow';
import { readIndexFile } from '../index/indexFile';
import { LogIndex } from '../index/logIndex';
import { changedOlder } from '../index/older';
import type { IndexParts, Problem } from '../index/parts';
import { EpisodeReader } from '../index/reader';

/** What is wrong with one dialogue of a log. */
export interface DamagedEpisode {
  readonly episode: string;
  /** One sentence. */
  readonly reason: string;
}

/** What a data folder's log holds, and what is wrong with it. */
export interface LogCheck {
  readonly segments: number;
  /** Lines that were read, good and bad. */
  readonly lines: number;
  /** Dialogues, those that were deleted included. */
  readonly episodes: number;
  /** Lines that cannot be read, or before which lines are missing. */
  readonly problems: readonly Problem[];
  readonly damaged: readonly DamagedEpisode[];
  /** Dialogues that lost lines may have deleted or marked as leaked. */
  readonly doubtful: readonly string[];
  /** Files that have lost lines of which nobody can tell what they said, and until when these were written: ISO 8601. */
  readonly losses: Readonly<Record<string, string>>;
  /** What else is not as it should be, in sentences: the index, an erasure that was interrupted. */
  readonly remarks: readonly string[];
}

/**
 * Reads all of the log of a data folder and says what is wrong with it. Nothing is written, and nothing that is kept of
 * the log is trusted.
 *
 * @throws {Fault} `trajectory/no-log` when the folder holds none; `trajectory/unreadable`
 */
export async function checkLog(folder: string): Promise<LogCheck> {
  const logFolder = join(folder, 'log');
  const names = await segmentNames(logFolder);
  if (names.length === 0) {
    const message = `${logFolder} holds no *.jsonl, so ${folder} is not a data folder with a log: name the one to check, usually .tandem in the workspace.`;
    throw new Fault('trajectory/no-log', message);
  }
  const index = LogIndex.empty();
  await catchUp(logFolder, index);
  const { segments, problems, episodes } = index.parts;
  const rows = Array.from({ length: episodes.length }, (_, row) => row).filter((row) =>
    episodes.isStarted(row),
  );
  return {
    segments: names.length,
    lines: segments.reduce((sum, { lines }) => sum + lines, 0),
    episodes: rows.length,
    problems: [...problems, ...changedOlder(index.parts), ...(await tornLines(logFolder, segments))],
    ...(await episodesOf(logFolder, index, rows)),
    losses: lossesOf(index.parts),
    remarks: [...(await indexRemarks(folder, logFolder)), ...(await erasureRemarks(logFolder))],
  };
}

/** Those that are damaged or doubtful; of one that is both, the damage is told. */
async function episodesOf(
  logFolder: string,
  index: LogIndex,
  rows: readonly number[],
): Promise<Pick<LogCheck, 'damaged' | 'doubtful'>> {
  const damaged: DamagedEpisode[] = [];
  const doubtful: string[] = [];
  const reader = new EpisodeReader(logFolder, index);
  try {
    for (const row of rows) {
      const read = await reader.episode(row).catch((error: unknown) => {
        if (error instanceof Fault && error.code === 'trajectory/task-missing') return error;
        throw error;
      });
      const reason = read instanceof Fault ? read.message : read?.trajectory.damaged;
      const episode = index.parts.episodes.ids[row]!;
      if (reason !== undefined) damaged.push({ episode, reason });
      else if (index.parts.episodes.isDoubtful(row) && !index.parts.episodes.isDeleted(row))
        doubtful.push(episode);
    }
  } finally {
    await reader.close();
  }
  return { damaged, doubtful };
}

function lossesOf(parts: IndexParts): Record<string, string> {
  const losses = parts.segments.map((segment) => [segment.name, consentsLostIn(parts, segment)] as const);
  return Object.fromEntries(
    losses.flatMap(([name, at]) => (at > 0 ? [[name, new Date(at).toISOString()]] : [])),
  );
}

async function indexRemarks(folder: string, logFolder: string): Promise<string[]> {
  const file = join(folder, 'index', 'trajectories.index');
  const saved = await readIndexFile(file);
  if (saved === undefined) return [];
  const reason = 'reason' in saved ? saved.reason : await whyStale(logFolder, new LogIndex(saved), true);
  return reason === undefined
    ? []
    : [`The index ${file} does not fit the log: ${reason}. It is made anew when the log is opened.`];
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

/** Whether there is something at this path. */
export async function isThere(path: string): Promise<boolean> {
  return (await ifThere(() => stat(path))) !== undefined;
}
