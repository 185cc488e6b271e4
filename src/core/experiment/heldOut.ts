import path from 'node:path';
import * as z from 'zod';
import type { PackTask } from '../dialogue/collect';
import { readJsonLines } from '../task/jsonl';
import { requestOf } from '../task/request';
import { parsePublishedRow } from '../trajectory/publishedRow';
import { Fault } from '../fault';
import type { Run } from '../training/runs';
import { configurationOf } from './configurations';

const dataSchema = z.object({ data: z.object({ trajectories: z.array(z.string()).catch([]) }) });

/**
 * What the tasks ask for that runs have in their data, those that they held out for their own looks among them: how well
 * a model does on these says little about others.
 */
export async function requestsIn(runs: readonly Run[], signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const requests = new Set<string>();
  for (const run of runs) {
    const { data } = dataSchema.parse(await configurationOf(run));
    for (const file of data.trajectories) {
      const rows = readJsonLines(path.resolve(run.folder, file), { maxLineBytes: Number.POSITIVE_INFINITY });
      for await (const line of rows) {
        signal?.throwIfAborted();
        const request = 'value' in line ? requestIn(line.value) : undefined;
        if (request !== undefined) requests.add(request);
      }
    }
  }
  return requests;
}

/** Undefined of a row that the trainer leaves out, too. */
function requestIn(row: unknown): string | undefined {
  try {
    return requestOf(parsePublishedRow(row).task);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** The tasks that none of the runs has in its data. */
export const unseen = (tasks: readonly PackTask[], seen: ReadonlySet<string>): PackTask[] =>
  tasks.filter(({ task }) => !seen.has(requestOf(task)));
