import { grouped } from '../../text';
import { percent } from '../words';
import { type TrainedComparisons, successInWords } from './comparison';
import type { Collected, Exported, Reported, TrainedRun } from './record';
import type { TasksResult } from './tasks';
import type { TrainedProgress } from './trainingStage';

// The line of each stage that is done, or was done before.

export function tasks({ train, heldOut, badLines }: TasksResult): string {
  const bad = badLines === 0 ? '' : `; ${grouped(badLines)} lines hold no task`;
  return `${grouped(train)} to learn from, ${grouped(heldOut)} held out${bad}`;
}

export function collected({ dialogues, successes }: Collected): string {
  return `${grouped(dialogues)} dialogues, ${percent(successes / dialogues)} solved`;
}

export const trained = ({ run }: TrainedRun): string => `run ${run}`;

export const exported = ({ precision }: Exported): string => `the new model is in place, ${precision}`;

export const compared = ({ sampled, greedy }: TrainedComparisons): string =>
  `${successInWords('sampled', sampled)}; ${successInWords('greedy', greedy)}`;

export const reported = ({ report }: Reported): string => report;

const PREPARING = {
  data: 'takes its data from the log',
  checks: 'checks its configuration and this machine',
  plan: 'is planned',
  launch: 'is launched',
} as const;

export function trainingWork(told: TrainedProgress): {
  readonly what: string;
  readonly done?: number;
  readonly total?: number;
  readonly secondsLeft?: number;
  readonly run?: string;
} {
  if ('preparing' in told) return { what: PREPARING[told.preparing] };
  const { run, progress } = told;
  const { stage = 'prepare', step, steps, part, secondsLeft } = progress;
  return {
    run,
    what: part === undefined || part.name === stage ? stage : `${stage} ${part.name}`,
    ...(part !== undefined ? { done: part.done, total: part.total } : { done: step, total: steps }),
    ...(secondsLeft !== undefined && { secondsLeft }),
  };
}
