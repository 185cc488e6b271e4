/** A message that showed a page, by the number of its turn from 1, and the score of that page. */
export interface ScoredDraft {
  readonly turn: number;
  readonly score: number;
}

/**
 * Measured credit of each turn of a dialogue about a page: the score of its draft minus that of the draft before, and
 * the score itself for the first; 0 for a turn without a draft. A truth by which critics' credits can be judged.
 * @param drafts in order, as a grade has them
 * @returns by turn, from 1
 */
export function gainsOf(drafts: readonly ScoredDraft[], turns: number): Map<number, number> {
  const gains = new Map<number, number>();
  for (let turn = 1; turn <= turns; turn += 1) gains.set(turn, 0);
  let before = 0;
  for (const { turn, score } of drafts) {
    gains.set(turn, score - before);
    before = score;
  }
  return gains;
}
