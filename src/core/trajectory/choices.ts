import type { Choice, ShownCandidates, Trajectory, TrajectorySummary } from './trajectory';

export const isChoice = (shown: ShownCandidates): shown is Choice => shown.choice !== undefined;

/** Returns every choice of the dialogue, the first one first; candidates without a choice are left out. */
export function choicesOf({ turns, pending = [] }: Pick<Trajectory, 'turns' | 'pending'>): Choice[] {
  const chosen = turns.filter(({ candidates }) => candidates);
  return [...chosen.flatMap(({ candidates = [] }) => candidates), ...pending.filter(isChoice)];
}

/**
 * Tells whether the authors of a dialogue's candidates may be revealed, because nobody will choose in it any more. A
 * dialogue that was cancelled or failed can be resumed, so its authors stay hidden.
 */
export function isOver(state: Trajectory['state'], abandoned: TrajectorySummary['abandoned']): boolean {
  return state === 'answered' || abandoned === 'skipped';
}
