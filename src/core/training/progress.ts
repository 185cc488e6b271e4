import type { ToldState, TrainerEvent, TrainerEventOf } from './events';

/** Where a run stands, as its trainer tells it. */
export interface Progress {
  readonly state: ToldState;
  /** `prepare`, `critic`, `candidates`, `ranking`, `policy`, `export`. */
  readonly stage?: string;
  /** Of the stage; absent between stages and in those without steps. */
  readonly step?: number;
  readonly steps?: number;
  /** Until the run is over. */
  readonly secondsLeft?: number;
  /** Work of the stage that has no steps, e.g. sampling; the seconds are those of this part. */
  readonly part?: {
    readonly name: string;
    readonly done: number;
    readonly total: number;
    readonly secondsLeft?: number;
  };
  /** What the last change of state said. */
  readonly message?: string;
  /** The latest step and the latest look at the held-out examples, with all their figures. */
  readonly latest?: TrainerEventOf<'step'>;
  readonly heldOut?: TrainerEventOf<'evaluation'>;
  /** Of a run that is done: where its policy was ended by request, before its last step. */
  readonly ended?: TrainerEventOf<'result'>['ended'];
  /** Of the latest event: ISO 8601, UTC. */
  readonly at: string;
}

/** The progress after one more event; of none when the first is still to come. */
export function advance(before: Progress | undefined, event: TrainerEvent): Progress {
  const { at } = event;
  if (event.event === 'state') return afterState(before, event);
  // Whoever reads only the end of a file may meet a step before any state: there are steps only while it runs.
  const progress: Progress = { ...(before ?? { state: 'running' }), at };
  if (event.event === 'step') {
    const { stage, step, steps, seconds_left } = event;
    const secondsLeft = seconds_left ?? undefined;
    return { ...progress, stage, step, steps, secondsLeft, part: undefined, latest: event };
  }
  if (event.event === 'progress') {
    const { stage, part: name, done, total, seconds_left } = event;
    return { ...progress, stage, part: { name, done, total, secondsLeft: seconds_left ?? undefined } };
  }
  if (event.event === 'evaluation') return { ...progress, heldOut: event };
  if (event.event === 'result') return { ...progress, ended: event.ended };
  return progress;
}

function afterState(before: Progress | undefined, event: TrainerEventOf<'state'>): Progress {
  const { state, stage = before?.stage, message, at } = event;
  const { latest, heldOut } = before ?? {};
  const sameStage = stage === before?.stage && !isFinal(state);
  return {
    state,
    stage,
    message,
    at,
    latest,
    heldOut,
    // The result is told before the run is done; one that continues it is not ended as it was.
    ...(state === 'done' && before?.ended !== undefined && { ended: before.ended }),
    ...(sameStage && { step: before?.step, steps: before?.steps, secondsLeft: before?.secondsLeft }),
  };
}

/** How much of its stage is done, or was when the run ended, 0 to 1; undefined where nobody knows. */
export function fractionOf({ part, step, steps, stage, state, latest }: Progress): number | undefined {
  const last = isFinal(state) && latest?.stage === stage ? latest : undefined;
  const [done, total] =
    part === undefined ? [step ?? last?.step, steps ?? last?.steps] : [part.done, part.total];
  return done === undefined || total === undefined || total === 0 ? undefined : Math.min(1, done / total);
}

/** Nothing follows until somebody resumes the run. */
export function isFinal(state: string): boolean {
  return state === 'stopped' || state === 'done' || state === 'failed';
}
