import type { RunHistory } from '../../training/history/history';
import type { TrainerEventOf } from '../../training/events';

/** How differently a critic and the untrained baseline (the model before training) order the sampled turns. */
export interface BaselineComparison {
  /** `ranking`, or `ranking-2` in a later round; `critic` while nothing is ranked yet. */
  readonly stage: string;
  /** Numbers ranked; null before the ranking. */
  readonly histories: number | null;
  readonly candidates: number | null;
  /**
   * Spearman correlation of critic and untrained score; null unless both vary in some history. At 1 the
   * critic adds nothing.
   */
  readonly correlation: number | null;
  /** Standard deviation within a history, averaged over histories: of the critic's scores, and of the baseline's. */
  readonly spread: number | null;
  readonly untrainedSpread: number | null;
  /** Held-out pair accuracy of the critic's best evaluation; null when no critic was trained. */
  readonly accuracy: number | null;
  /** Accuracy of the baseline on the same pairs, and their number; null in runs of an older trainer. */
  readonly untrainedAccuracy: number | null;
  readonly pairs: number | null;
  /**
   * Spearman correlation of the critic's credits with the gains of drafts on held-out pages, and its 95 % interval;
   * null for functions, and for a page's run without such dialogues.
   */
  readonly gains: {
    readonly mean: number;
    readonly low: number | null;
    readonly high: number | null;
    readonly dialogues: number;
  } | null;
}

/** One for each ranking, in order; before the first ranking, the known figures of the critic. */
export function baselineComparisonsOf(history: RunHistory): BaselineComparison[] {
  const { control, rankings } = history;
  const onPairs = {
    accuracy: history.bestLook('critic')?.accuracy ?? null,
    untrainedAccuracy: control?.accuracy ?? null,
    pairs: control?.examples ?? null,
    gains: gainsIn(history),
  };
  if (rankings.length === 0 && control !== undefined) return [{ ...unranked(control), ...onPairs }];
  return rankings.map(({ stage, histories, candidates, rank_correlation, spread, untrained_spread }) => ({
    ...{ stage, histories, candidates, ...onPairs },
    correlation: rank_correlation ?? null,
    spread: spread ?? null,
    untrainedSpread: untrained_spread ?? null,
  }));
}

function gainsIn({ gains }: RunHistory): BaselineComparison['gains'] {
  if (gains?.rank_correlation == null) return null;
  const { rank_correlation: mean, low, high, dialogues } = gains;
  return { mean, low: low ?? null, high: high ?? null, dialogues };
}

const unranked = ({ stage }: TrainerEventOf<'control'>) => ({
  ...{ stage, histories: null, candidates: null },
  ...{ correlation: null, spread: null, untrainedSpread: null },
});
