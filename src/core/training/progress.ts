import type { ReportedState, TrainerEvent, TrainerEventOf } from './events';

export interface Progress {
  readonly state: ReportedState;
  /** `prepare`, `critic`, `candidates`, `ranking`, `policy`, `export`. */
  readonly stage?: string;
  /** Steps of the stage; absent between stages and in stages without steps. */
  readonly step?: number;
  readonly steps?: number;
  /** Until the end of the whole run. */
  readonly secondsLeft?: number;
  /** Work without steps, e.g. sampling; `secondsLeft` covers this part only. */
  readonly part?: {
    readonly name: string;
    readonly done: number;
    readonly total: number;
    readonly secondsLeft?: number;
  };
  readonly message?: string;
  /** The latest step and evaluation, with all their figures; evaluations are on held-out examples. */
  readonly latest?: TrainerEventOf<'step'>;
  readonly heldOut?: TrainerEventOf<'evaluation'>;
  /** Set for a finished run if its policy was ended by request before the last step. */
  readonly ended?: TrainerEventOf<'result'>['ended'];
  /** Time of the latest event. ISO 8601, UTC. */
  readonly at: string;
}

/** The first steps of a start are slower than the rest. */
const MIN_STEPS = 5;

export function advance(before: Progress | undefined, event: TrainerEvent): Progress {
  const { at } = event;
  if (event.event === 'state') return afterState(before, event);
  // The workers of a cluster report their nodes before a state, so the last state is still that of the previous start.
  if (event.event === 'nodes') return before ?? { state: 'preparing', at };
  // A reader of only the end of the file may see a step before any state; steps occur only while the run is running.
  const progress: Progress = { ...(before ?? { state: 'running' }), at };
  if (event.event === 'step') {
    const { stage, step, steps, seconds_left } = event;
    const secondsLeft = step < MIN_STEPS ? undefined : (seconds_left ?? undefined);
    return { ...progress, stage, step, steps, secondsLeft, part: undefined, latest: event };
  }
  if (event.event === 'progress') {
    const { stage, part: name, done, total, seconds_left } = event;
    const part = { name, done, total, secondsLeft: seconds_left ?? undefined };
    return { ...progress, stage, secondsLeft: undefined, part };
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
    // The `result` event precedes the state `done`. A run that continues a finished one does not inherit `ended`.
    ...(state === 'done' && before?.ended !== undefined && { ended: before.ended }),
    ...(sameStage && { step: before?.step, steps: before?.steps, secondsLeft: before?.secondsLeft }),
  };
}

/**
 * Set when the policy ended before its last step, by request or because its held-out examples stopped improving
 * (`patience`). A run that continues it does the remaining steps first.
 */
export function endOfPolicy({
  ended,
  latest,
}: Progress): { readonly step: number; readonly steps: number; readonly isAsked: boolean } | undefined {
  if (ended !== undefined) return { step: ended.step, steps: ended.steps, isAsked: true };
  if (latest === undefined || latest.step >= latest.steps) return undefined;
  return { step: latest.step, steps: latest.steps, isAsked: false };
}

/** Fraction of the stage, 0 to 1, also at the end of the run; undefined when it is not known. */
export function fractionOf({ part, step, steps, stage, state, latest }: Progress): number | undefined {
  const last = isFinal(state) && latest?.stage === stage ? latest : undefined;
  const [done, total] =
    part === undefined ? [step ?? last?.step, steps ?? last?.steps] : [part.done, part.total];
  return done === undefined || total === undefined || total === 0 ? undefined : Math.min(1, done / total);
}

/** True if no event follows this state until the run is resumed. */
export function isFinal(state: ReportedState): state is 'stopped' | 'done' | 'failed' {
  return state === 'stopped' || state === 'done' || state === 'failed';
}
