import { join } from 'node:path';
import { Fault, messageOf } from '../../fault';
import { unfinishedErasure } from '../erase';
import { isThere } from '../files';
import { erasedAgain, indexFileOf } from '../index/keptIndex';
import { LogIndex } from '../index/logIndex';
import { EpisodeReader } from '../index/reader';
import type { Row } from '../index/rows';
import { lookInto } from '../index/schema';
import { isSqliteError } from '../index/sqlite';
import { IndexStore } from '../index/store';
import { pictureFaults } from '../pictures';
import {
  consentsLostIn,
  changedOlder,
  segmentNames,
  tornLines,
  whyStale,
  type LineProblem,
  type ReadLog,
} from '../segment/files';

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
