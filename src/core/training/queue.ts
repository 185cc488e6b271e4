import { hostname } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../fault';
import { claimIn } from '../trajectory/claim';
import { resumeRun } from './control';
import type { Run, Runs } from './runs';
import type { Trainer } from './trainer';

/*
 * Runs that wait for their turn say so in their own folders, `queued.json`, and there is no other list. Nobody has to
 * stay awake for it: whoever looks at the runs and finds that none is at work begins the one that has waited longest.
 */

/** The run whose turn it is on this machine; undefined while another is at work on it, or none waits. */
export function nextOf(all: readonly Run[]): Run | undefined {
  const here = hostname();
  if (all.some(({ isLive, process }) => isLive && process?.host === here)) return undefined;
  const waiting = all.filter(({ queued }) => queued?.host === here);
  return waiting.toSorted((a, b) => a.queued!.at.localeCompare(b.queued!.at))[0];
}

/**
 * Begins the run whose turn it is. Two windows that do so at once begin one.
 * @returns undefined when there is none, or somebody else is about it
 * @throws {Fault} `training/python-not-started`
 */
export async function beginNext(runs: Runs, trainer: Trainer): Promise<Run | undefined> {
  try {
    const claim = await claimIn(join(runs.dataFolder, 'claims'), 'queue', 'The queue of runs');
    try {
      const next = nextOf(await runs.list());
      return next && (await resumeRun(runs, next.id, trainer));
    } finally {
      await claim.release();
    }
  } catch (error) {
    if (error instanceof Fault && SOMEBODY_ELSE.includes(error.code)) return undefined;
    throw error;
  }
}

const SOMEBODY_ELSE = ['trajectory/claimed', 'training/running'];
