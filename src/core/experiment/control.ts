import type { RunHistory } from '../training/history/history';
import type { TrainerEventOf } from '../training/events';

/**
 * A critic of a run beside its control, the score of the model before it was trained: how differently both order the
 * turns that were sampled.
 */
export interface Control {
  /** `ranking`, of a later round `ranking-2`; `critic` while nothing is ranked yet. */
  readonly stage: string;
  /** What was ranked; null before that. */
  readonly histories: number | null;
  readonly candidates: number | null;
  /** Spearman's, of critic and untrained score; null where both do not differ anywhere. At 1 the critic adds nothing. */
  readonly correlation: number | null;
  /** Standard deviation within a history, the mean over histories: of the critic's scores, and of the control's. */
  readonly spread: number | null;
  readonly untrainedSpread: number | null;
  /** Of pairs of dialogues of held-out tasks, in the right order, at its best look; null without a critic's training. */
  readonly accuracy: number | null;
  /** What the control has in order of the same pairs, and how many they are; null in runs of an older trainer. */
  readonly untrainedAccuracy: number | null;
  readonly pairs: number | null;
}

/** Of each ranking of a run, in order; before the first, what is known of the critic already. */
export function controlsOf(history: RunHistory): Control[] {
  const { control, rankings } = history;
  const onPairs = {
    accuracy: history.bestLook('critic')?.accuracy ?? null,
    untrainedAccuracy: control?.accuracy ?? null,
    pairs: control?.examples ?? null,
  };
  if (rankings.length === 0 && control !== undefined) return [{ ...unranked(control), ...onPairs }];
  return rankings.map(({ stage, histories, candidates, rank_correlation, spread, untrained_spread }) => ({
    ...{ stage, histories, candidates, ...onPairs },
    correlation: rank_correlation ?? null,
    spread: spread ?? null,
    untrainedSpread: untrained_spread ?? null,
  }));
}

const unranked = ({ stage }: TrainerEventOf<'control'>) => ({
  ...{ stage, histories: null, candidates: null },
  ...{ correlation: null, spread: null, untrainedSpread: null },
});
