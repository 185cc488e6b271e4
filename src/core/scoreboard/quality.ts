import type { CandidateValue } from '../evaluation/credit';
import { rankingQuality, type RankingQuality } from '../evaluation/ranking';
import { overSeeds, type OverSeeds } from '../evaluation/seeds';

/** The candidates of one state: what they are worth, and what one score says of them. */
export interface Judged {
  readonly worth: readonly CandidateValue[];
  /** By the critic of each training seed; a score that depends on no training has one. */
  readonly scores: readonly (readonly number[])[];
}

/** How well a score ranks, over states. Null where it says nothing, as with equal scores everywhere. */
export interface ScoreQuality {
  readonly states: number;
  /** Within a state, Spearman's ρ with success, the mean over states with an interval over them. */
  readonly correlation: OverSeeds | null;
  /** Of the pairs of a good and a bad candidate, how many are so in truth. */
  readonly auc: OverSeeds | null;
  /** The same among questions alone: without the candidates that end the dialogue. */
  readonly aucOfQuestions: OverSeeds | null;
}

export function qualityOf(states: readonly Judged[], seed: number): ScoreQuality {
  const all = states.map((state) => qualities(state, () => true));
  const questions = states.map((state) => qualities(state, ({ standardError }) => standardError > 0));
  return {
    states: states.length,
    correlation: overStates(all, 'correlation', seed),
    auc: overStates(all, 'auc', seed),
    aucOfQuestions: overStates(questions, 'auc', seed),
  };
}

/** For each training seed, over the candidates that count. */
function qualities({ worth, scores }: Judged, counts: (value: CandidateValue) => boolean): RankingQuality[] {
  const kept = worth.flatMap((value, i) => (counts(value) ? i : []));
  const success = kept.map((i) => worth[i]!.success);
  return scores.map((of) =>
    rankingQuality(
      kept.map((i) => of[i]!),
      success,
    ),
  );
}

function overStates(
  states: readonly (readonly RankingQuality[])[],
  figure: keyof RankingQuality,
  seed: number,
): OverSeeds | null {
  const means = states.flatMap((bySeed) => {
    const known = bySeed.flatMap((quality) => quality[figure] ?? []);
    return known.length === 0 ? [] : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
  return means.length === 0 ? null : overSeeds([means], seed);
}
