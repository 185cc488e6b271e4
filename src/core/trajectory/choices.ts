import type { Choice, ShownCandidates, Trajectory } from './trajectory';

export const isChoice = (shown: ShownCandidates): shown is Choice => shown.choice !== undefined;

/** Every choice of the dialogue, from the first. */
export function choicesOf({ turns, pending = [] }: Trajectory): Choice[] {
  return [...turns.flatMap(({ candidates = [] }) => candidates), ...pending.filter(isChoice)];
}
