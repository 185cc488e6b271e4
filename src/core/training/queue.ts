import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { Fault } from '../fault';
import { claimIn, type Claim } from '../trajectory/claim';
import { resumeRun } from './lifecycle';
import type { Run, Runs } from './runs';
import type { Trainer } from './trainer';

/*
 * The queue is the set of `queued.json` files in the runs' folders. No process has to stay awake for it: any window
 * that finds no run at work begins the run that has waited longest.
 */

/** Looks at all logs on this machine; undefined while another run is at work here, or none waits. */
export function nextOf(all: readonly Run[]): Run | undefined {
  const here = hostname();
  if (all.some(({ isLive, process }) => isLive && process?.host === here)) return undefined;
  const waiting = all.filter(({ queued }) => queued?.host === here);
  return waiting.toSorted((a, b) => a.queued!.at.localeCompare(b.queued!.at))[0];
}

/**
 * When two windows with a common log call this at once, only one run is begun.
 * @param prompts as for `resumeRun`
 * @returns undefined when no run waits, or another window is about to begin one
 * @throws {Fault} `training/python-not-started`, `trajectory/not-written` when the log of the run cannot be written
 */
export async function beginNext(
  logs: readonly Runs[],
  trainer: Trainer,
  prompts?: string,
): Promise<Run | undefined> {
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
    return await resumeRun(runs, next.id, trainer, { prompts });
  } catch (error) {
    if (error instanceof Fault && HELD_BY_OTHERS.includes(error.code)) return undefined;
    throw error;
  } finally {
    for (const claim of claims) await claim.release();
  }
}

const HELD_BY_OTHERS = ['trajectory/claimed', 'training/running'];

/** Returns the fault when the log cannot be written, so that the other logs need not wait. */
async function claimOf({ dataFolder }: Runs): Promise<Claim | Fault> {
  try {
    return await claimIn(join(dataFolder, 'claims'), 'queue', 'The queue of runs');
  } catch (error) {
    if (error instanceof Fault && !HELD_BY_OTHERS.includes(error.code)) return error;
    throw error;
  }
}

/**
 * Only logs with runs, so that nothing is written into others. Every window sorts them alike: of two that claim at
 * once, one succeeds.
 */
async function withRuns(logs: readonly Runs[]): Promise<readonly Runs[]> {
  const ids = await Promise.all(logs.map((runs) => runs.ids()));
  return logs
    .filter((_, index) => ids[index]!.length > 0)
    .toSorted((a, b) => (a.dataFolder < b.dataFolder ? -1 : 1));
}
