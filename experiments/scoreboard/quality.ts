import { rankingQuality, type RankingQuality } from './ranking';
import { overSeeds, type OverSeeds } from '../../src/core/evaluation/overSeeds';
import type { CandidateValue } from './monteCarloCredit';

/** The candidates of one state with their values and their scores. */
interface Judged {
  readonly worth: readonly CandidateValue[];
  /** Scores by training seed of the critic; a score that depends on no training has one row. */
  readonly scores: readonly (readonly number[])[];
}

/** Quality of a score's ranking, over states; null where it is undefined, e.g. with equal scores everywhere. */
export interface ScoreQuality {
  readonly states: number;
  /** Spearman's ρ of score and success within a state; mean over states with its interval. */
  readonly correlation: OverSeeds | null;
  /** Fraction of pairs of a good and a bad candidate whose values have the same order. */
  readonly auc: OverSeeds | null;
  /** The same for questions only, without the candidates that end the dialogue. */
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

/** Returns the quality for each training seed, over the candidates for which `counts` is true. */
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
