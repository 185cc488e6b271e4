import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** One dialogue by the lines of a log. This reader shares no code with the one under test. */
export interface Told {
  readonly episode: string;
  readonly collection: string | undefined;
  /** Key of a dialogue in a collection: `<task>#<rollout>`. */
  readonly rollout: string;
  readonly turns: number[];
  readonly replies: number[];
  answered: number;
  /** The grades as JSON. */
  readonly grades: string[];
}

export interface LogText {
  readonly episodes: ReadonlyMap<string, Told>;
  /** Segments whose last line has no line feed. */
  readonly torn: readonly string[];
  /** Complete lines that are not JSON. */
  readonly unreadable: readonly string[];
}

interface Line {
  readonly event: string;
  readonly episode?: string;
  readonly collection?: string;
  readonly task?: string;
  readonly rollout?: number;
  readonly turn?: number;
  readonly grade?: unknown;
}

/** Reads every line of a log, one file after the other. */
export async function readLog(data: string): Promise<LogText> {
  const folder = path.join(data, 'log');
  const episodes = new Map<string, Told>();
  const torn: string[] = [];
  const unreadable: string[] = [];
  const later: Line[] = [];
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.jsonl')).sort()) {
    const lines = (await readFile(path.join(folder, name), 'utf8')).split('\n');
    if (lines.pop() !== '') torn.push(name);
    for (const [index, text] of lines.entries()) {
      const line = parsed(text);
      if (line === undefined) unreadable.push(`${name}:${index + 1}`);
      else if (line.event === 'episode-started') episodes.set(line.episode!, begun(line));
      else if (line.episode !== undefined) later.push(line);
    }
  }
  for (const line of later) take(episodes.get(line.episode!), line);
  return { episodes, torn, unreadable };
}

const begun = ({ episode, collection, task, rollout }: Line): Told => ({
  episode: episode!,
  collection,
  rollout: `${task}#${rollout ?? 0}`,
  turns: [],
  replies: [],
  answered: 0,
  grades: [],
});

function take(told: Told | undefined, { event, turn, grade }: Line): void {
  if (event === 'agent-turn') told?.turns.push(turn!);
  else if (event === 'reply') told?.replies.push(turn!);
  else if (event === 'answered' && told !== undefined) told.answered++;
  else if (event === 'grade') told?.grades.push(JSON.stringify(grade));
}

function parsed(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

/** Returns the rollouts of a collection that have a grade. */
export function gradedOf({ episodes }: LogText, collection: string): Set<string> {
  const graded = [...episodes.values()].filter(
    (told) => told.collection === collection && told.grades.length > 0,
  );
  return new Set(graded.map(({ rollout }) => rollout));
}
