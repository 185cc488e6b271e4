import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from './files';
import { segmentNames } from './index/follow';
import { readEvent } from './index/read';
import { peek } from './segment/line';
import { scanLines } from './segment/scan';
import type { Trajectory, TrajectorySummary } from './trajectory';

/** A message that has all words of a search. */
export interface Passage {
  /** Of the agent, or of the reply to it. */
  readonly turn: number;
  readonly by: 'agent' | 'collaborator';
  /** All of the message, as the log has it. */
  readonly text: string;
}

export interface FoundDialogue {
  readonly summary: TrajectorySummary;
  /** In the order they were said; never empty. */
  readonly passages: readonly Passage[];
}

export interface SearchOptions {
  readonly signal?: AbortSignal;
  /** How many bytes of how many have been read. */
  readonly onProgress?: (read: number, total: number) => void;
}

/** What a search reads dialogues from. */
interface Searched {
  readonly logFolder: string;
  summary(id: string): TrajectorySummary | undefined;
  trajectories(ids: Iterable<string>, onLost: () => void): AsyncGenerator<Trajectory>;
}

/** Reads so much at once: nothing else happens in this process while its lines are looked at, a few milliseconds. */
const PIECE_BYTES = 512 * 1024;

/** The words of a search, in lower case, each once. */
export const wordsOf = (query: string): string[] => [
  ...new Set(query.toLowerCase().split(/\s+/).filter(Boolean)),
];

/**
 * The dialogues in which a message of the agent or a reply has every word of the query, in any case; none for an empty
 * query. There is no index of texts: the lines of the log are read, the newest file first, and of a dialogue whose lines
 * have the words what holds of it (messages that were written anew do not count).
 */
export async function* searchDialogues(
  searched: Searched,
  query: string,
  { signal, onProgress }: SearchOptions = {},
): AsyncGenerator<FoundDialogue> {
  const words = wordsOf(query);
  if (words.length === 0) return;
  const files = [];
  for (const name of (await segmentNames(searched.logFolder)).reverse()) {
    const file = join(searched.logFolder, name);
    // It is gone when somebody has their data erased at this moment.
    const size = (await ifThere(() => stat(file)))?.size;
    if (size !== undefined) files.push({ file, size });
  }
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const seen = new Set<string>();
  let before = 0;
  for (const { file, size } of files) {
    const ids = await dialoguesIn(file, words, (offset) => {
      signal?.throwIfAborted();
      onProgress?.(before + offset, total);
    });
    before += size;
    signal?.throwIfAborted();
    onProgress?.(before, total);
    const newest = ids.reverse().filter((id) => !seen.has(id) && searched.summary(id) !== undefined);
    for (const id of newest) seen.add(id);
    for await (const trajectory of searched.trajectories(newest, () => undefined)) {
      signal?.throwIfAborted();
      const passages = passagesOf(trajectory, words);
      const summary = searched.summary(trajectory.id);
      if (passages.length > 0 && summary !== undefined) yield { summary, passages };
    }
  }
}

/** The ids of dialogues of which some line of a file has the words, each once, the one that goes on longest last. */
async function dialoguesIn(
  file: string,
  words: readonly string[],
  onPiece: (offset: number) => void,
): Promise<string[]> {
  // A set keeps the order in which ids were added.
  const ids = new Set<string>();
  // The log writes JSON as this does, so that a line without the words in this form need not be parsed.
  const written = words.map((word) => JSON.stringify(word).slice(1, -1));
  let piece = -1;
  const visit = (buffer: Buffer, start: number, end: number, offset: number): void => {
    const next = Math.floor(offset / PIECE_BYTES);
    if (next !== piece) onPiece(offset);
    piece = next;
    const front = peek(buffer, start, end);
    if (front !== undefined) {
      if (front.kind !== 'agent-turn' && front.kind !== 'reply') return;
      if (!hasAll(buffer.toString('utf8', front.rest, end), written)) return;
    }
    const read = readEvent(buffer.subarray(start, end));
    if (!('event' in read)) return;
    const { event } = read;
    if ((event.event !== 'agent-turn' && event.event !== 'reply') || !hasAll(event.text, words)) return;
    ids.delete(event.episode);
    ids.add(event.episode);
  };
  await ifThere(() => scanLines(file, 0, visit, undefined, PIECE_BYTES));
  return [...ids];
}

function passagesOf({ turns }: Trajectory, words: readonly string[]): Passage[] {
  return turns.flatMap(({ agent: { turn, text }, reply }): Passage[] => [
    ...(hasAll(text, words) ? [{ turn, by: 'agent' as const, text }] : []),
    ...(reply !== undefined && hasAll(reply.text, words)
      ? [{ turn, by: 'collaborator' as const, text: reply.text }]
      : []),
  ]);
}

function hasAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}
