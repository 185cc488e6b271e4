import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { Fault } from '../fault';
import { claimIn, type Claim } from '../trajectory/claim';
import { resumeRun } from './control';
import type { Run, Runs } from './runs';
import type { Trainer } from './trainer';

/*
 * Runs that wait for their turn say so in their own folders, `queued.json`, and there is no other list. Nobody has to
 * stay awake for it: whoever looks at the runs and finds that none is at work begins the one that has waited longest.
 */

/** The run whose turn it is on this machine; undefined while another is at work on it, or none waits. Of several logs. */
export function nextOf(all: readonly Run[]): Run | undefined {
  const here = hostname();
  if (all.some(({ isLive, process }) => isLive && process?.host === here)) return undefined;
  const waiting = all.filter(({ queued }) => queued?.host === here);
  return waiting.toSorted((a, b) => a.queued!.at.localeCompare(b.queued!.at))[0];
}

/**
 * Begins the run whose turn it is, of all these logs. Two windows that do so at once, and have a log in common, begin one.
 * @returns undefined when there is none, or somebody else is about it
 * @throws {Fault} `training/python-not-started`, `trajectory/not-written` when the log of the run cannot be written
 */
export async function beginNext(logs: readonly Runs[], trainer: Trainer): Promise<Run | undefined> {
  const claims: Claim[] = [];
  const refused = new Map<Runs, Fault>();
  try {
    for (const runs of await withRuns(logs)) {
      const claim = await claimOf(runs);
      if (claim instanceof Fault) refused.set(runs, claim);
      else claims.push(claim);
    }
    const next = nextOf((await Promise.all(logs.map((runs) => runs.list()))).flat());
    const runs = logs.find(({ folder }) => next !== undefined && folder === dirname(next.folder));
    if (next === undefined || runs === undefined) return undefined;
    const refusal = refused.get(runs);
    if (refusal !== undefined) throw refusal;
    return await resumeRun(runs, next.id, trainer);
  } catch (error) {
    if (error instanceof Fault && SOMEBODY_ELSE.includes(error.code)) return undefined;
    throw error;
  } finally {
    for (const claim of claims) await claim.release();
  }
}

const SOMEBODY_ELSE = ['trajectory/claimed', 'training/running'];

/** Or why there can be none: nobody begins a run in a log that cannot be written, and those of the others need not wait. */
async function claimOf({ dataFolder }: Runs): Promise<Claim | Fault> {
  try {
    return await claimIn(join(dataFolder, 'claims'), 'queue', 'The queue of runs');
  } catch (error) {
    if (error instanceof Fault && !SOMEBODY_ELSE.includes(error.code)) return error;
    throw error;
  }
}

/** Nothing is written where there is none. In one order for everybody, so that of two one comes through. */
async function withRuns(logs: readonly Runs[]): Promise<readonly Runs[]> {
  const ids = await Promise.all(logs.map((runs) => runs.ids()));
  return logs
    .filter((_, index) => ids[index]!.length > 0)
    .toSorted((a, b) => (a.dataFolder < b.dataFolder ? -1 : 1));
}
