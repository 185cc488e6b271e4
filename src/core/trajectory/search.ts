import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from './files';
import { segmentNames } from './segment/files';
import { readEvent, peek } from './segment/line';
import { scanLines } from './segment/reader';
import type { Trajectory, TrajectorySummary } from './trajectory';

export interface Passage {
  /** Number of the agent's message, or of the message that the reply answers; 0 for a note. */
  readonly turn: number;
  readonly by: 'agent' | 'collaborator' | 'note';
  /** The whole message or note, as logged. */
  readonly text: string;
}

export interface FoundDialogue {
  readonly summary: TrajectorySummary;
  /** Passages in the order of the dialogue; never empty. */
  readonly passages: readonly Passage[];
}

export interface SearchOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of bytes read and the total. */
  readonly onProgress?: (read: number, total: number) => void;
}

interface Searched {
  readonly logFolder: string;
  summary(id: string): TrajectorySummary | undefined;
  trajectories(ids: Iterable<string>, onLost: () => void): AsyncGenerator<Trajectory>;
}

/** Bytes read at once: this process is blocked while their lines are searched, for a few milliseconds. */
const PIECE_BYTES = 512 * 1024;

/** In lower case, without duplicates. */
export const wordsOf = (query: string): string[] => [
  ...new Set(query.toLowerCase().split(/\s+/).filter(Boolean)),
];

/**
 * Yields the dialogues in which one message, reply or note has every word of the query, in any case; none for an empty
 * query. There is no index of texts: the lines of the log are read, the newest file first. A dialogue with such a line is
 * then folded, and only its current messages and notes count (not those that were sampled or written again).
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
    // The file is missing if a person's data are being erased at this moment.
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

/** Dialogues with a line in this file that has the words, without duplicates, ordered by their last such line. */
async function dialoguesIn(
  file: string,
  words: readonly string[],
  onPiece: (offset: number) => void,
): Promise<string[]> {
  const ids = new Set<string>();
  // The log encodes JSON as this does, so a line without the words in this form need not be parsed.
  const written = words.map((word) => JSON.stringify(word).slice(1, -1));
  let piece = -1;
  const visit = (line: Buffer, offset: number): void => {
    const next = Math.floor(offset / PIECE_BYTES);
    if (next !== piece) onPiece(offset);
    piece = next;
    const front = peek(line);
    if (front !== undefined) {
      if (front.kind !== 'agent-turn' && front.kind !== 'reply' && front.kind !== 'label') return;
      if (!hasAll(line.toString('utf8', front.rest), written)) return;
    }
    const read = readEvent(line);
    if (!('event' in read)) return;
    const { event } = read;
    if (event.event !== 'agent-turn' && event.event !== 'reply' && event.event !== 'label') return;
    if (!hasAll((event.event === 'label' ? event.note : event.text) ?? '', words)) return;
    ids.delete(event.episode);
    ids.add(event.episode);
  };
  await ifThere(() => scanLines(file, 0, visit, { readBytes: PIECE_BYTES }));
  return [...ids];
}

function passagesOf({ turns, labels = [] }: Trajectory, words: readonly string[]): Passage[] {
  const notes = labels.flatMap(({ note = '' }): Passage[] =>
    hasAll(note, words) ? [{ turn: 0, by: 'note', text: note }] : [],
  );
  const said = turns.flatMap(({ agent: { turn, text }, reply }): Passage[] => [
    ...(hasAll(text, words) ? [{ turn, by: 'agent' as const, text }] : []),
    ...(reply !== undefined && hasAll(reply.text, words)
      ? [{ turn, by: 'collaborator' as const, text: reply.text }]
      : []),
  ]);
  return [...notes, ...said];
}

function hasAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}
