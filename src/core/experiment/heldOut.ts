import path from 'node:path';
import * as z from 'zod';
import type { PackTask } from '../dialogue/collect';
import { readJsonLines } from '../task/jsonl';
import { requestOf } from '../task/request';
import { teaches } from '../task/starter/world';
import type { Task } from '../task/task';
import { parsePublishedRow } from '../trajectory/publishedRow';
import { Fault } from '../fault';
import type { Run } from '../training/runs';
import { configurationOf } from './configurations';

const dataSchema = z.object({ data: z.object({ trajectories: z.array(z.string()).catch([]) }) });

/** What runs have learned from. */
export interface Seen {
  /** What the tasks ask for, those that the runs held out for their own looks among them. */
  readonly requests: ReadonlySet<string>;
  /** Where the tasks come from, as they say. */
  readonly sources: ReadonlySet<string>;
}

/** The tasks that runs have in their data: how well a model does on these says little about others. */
export async function seenBy(runs: readonly Run[], signal?: AbortSignal): Promise<Seen> {
  const requests = new Set<string>();
  const sources = new Set<string>();
  for (const run of runs) {
    const { data } = dataSchema.parse(await configurationOf(run));
    for (const file of data.trajectories) {
      const rows = readJsonLines(path.resolve(run.folder, file), { maxLineBytes: Number.POSITIVE_INFINITY });
      for await (const line of rows) {
        signal?.throwIfAborted();
        const task = 'value' in line ? taskIn(line.value) : undefined;
        if (task === undefined) continue;
        requests.add(requestOf(task));
        if (task.source !== undefined) sources.add(task.source);
      }
    }
  }
  return { requests, sources };
}

/** Undefined of a row that the trainer leaves out, too. */
function taskIn(row: unknown): Task | undefined {
  try {
    return parsePublishedRow(row).task;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** The tasks that none of the runs has in its data. */
export const unseen = (tasks: readonly PackTask[], { requests }: Seen): PackTask[] =>
  tasks.filter(({ task }) => !requests.has(requestOf(task)));

/**
 * Tells how far the tasks are from what the runs have learned to do. 2: they are of another kind, and success on them says
 * little. 1: they are of that kind, but were made to learn from as well. 0: they were made to measure on.
 */
export function distance(tasks: readonly PackTask[], seen: Seen): 0 | 1 | 2 {
  if (!isOfKind(tasks, seen)) return 2;
  return tasks.some(({ task }) => teaches(task)) ? 1 : 0;
}

/** Whether some of the tasks are of the kind that the runs have learned from: they are among these, or from where these are. */
const isOfKind = (tasks: readonly PackTask[], { requests, sources }: Seen): boolean =>
  tasks.some(
    ({ task }) => requests.has(requestOf(task)) || (task.source !== undefined && sources.has(task.source)),
  );
