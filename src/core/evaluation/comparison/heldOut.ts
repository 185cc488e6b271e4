import path from 'node:path';
import * as z from 'zod';
import type { PackTask } from '../../dialogue/collect';
import { readJsonLines } from '../../task/jsonl';
import { requestOf, type Task } from '../../task/task';
import { teaches, worldOf, type World } from '../../task/starter/splits';
import { parsePublishedRow } from '../../trajectory/publishedRow';
import { Fault } from '../../fault';
import type { Run } from '../../training/runs';
import { configurationOf } from './experiment';

const dataSchema = z.object({ data: z.object({ trajectories: z.array(z.string()).catch([]) }) });

interface SeenTasks {
  /** Including tasks that the runs held out for their own evaluation. */
  readonly requests: ReadonlySet<string>;
  readonly sources: ReadonlySet<string>;
}

/** A model's success on these tasks says little about other tasks. */
export async function seenBy(runs: readonly Run[]): Promise<SeenTasks> {
  const requests = new Set<string>();
  const sources = new Set<string>();
  for (const run of runs) {
    for await (const task of tasksOf(run)) {
      requests.add(requestOf(task));
      if (task.source !== undefined) sources.add(task.source);
    }
  }
  return { requests, sources };
}

/** By the first task that the run learned from; undefined where no world has made it. */
export async function worldOfRun(run: Run): Promise<World | undefined> {
  for await (const task of tasksOf(run)) return worldOf(task);
  return undefined;
}

async function* tasksOf(run: Run): AsyncGenerator<Task> {
  const { data } = dataSchema.parse(await configurationOf(run));
  for (const file of data.trajectories) {
    const rows = readJsonLines(path.resolve(run.folder, file), { maxLineBytes: Number.POSITIVE_INFINITY });
    for await (const line of rows) {
      const task = 'value' in line ? taskIn(line.value) : undefined;
      if (task !== undefined) yield task;
    }
  }
}

/** Undefined for a row that the trainer leaves out, too. */
function taskIn(row: unknown): Task | undefined {
  try {
    return parsePublishedRow(row).task;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

export const unseen = (tasks: readonly PackTask[], { requests }: SeenTasks): PackTask[] =>
  tasks.filter(({ task }) => !requests.has(requestOf(task)));

/**
 * Distance from the tasks that the runs have learned from. 2: of another kind, so success says little. 1: of the same
 * kind, but also made to learn from. 0: made for evaluation.
 */
export function distance(tasks: readonly PackTask[], seen: SeenTasks): 0 | 1 | 2 {
  if (!isOfKind(tasks, seen)) return 2;
  return tasks.some(({ task }) => teaches(task)) ? 1 : 0;
}

/** The same tasks, or tasks of the same source. */
const isOfKind = (tasks: readonly PackTask[], { requests, sources }: SeenTasks): boolean =>
  tasks.some(
    ({ task }) => requests.has(requestOf(task)) || (task.source !== undefined && sources.has(task.source)),
  );
