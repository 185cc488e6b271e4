import type { Choice, ShownCandidates, Trajectory, TrajectorySummary } from './trajectory';

export const isChoice = (shown: ShownCandidates): shown is Choice => shown.choice !== undefined;

/** Every choice of the dialogue, from the first. */
export function choicesOf({ turns, pending = [] }: Trajectory): Choice[] {
  return [...turns.flatMap(({ candidates = [] }) => candidates), ...pending.filter(isChoice)];
}

/**
 * Whether it may be told who wrote the candidates of a dialogue: nobody chooses in it any more. One that was stopped or
 * has failed can be asked again.
 */
export function isOver(state: Trajectory['state'], abandoned: TrajectorySummary['abandoned']): boolean {
  return state === 'answered' || abandoned === 'skipped';
}
