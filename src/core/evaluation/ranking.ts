/** How well a score ranks the candidates of a state, judged by what they are worth. */
export interface RankingQuality {
  /** Spearman's ρ of score and worth; null when all scores or all worths are equal. */
  readonly correlation: number | null;
  /**
   * Of the pairs of a good and a bad candidate, as training would take them, the fraction in which the good one is
   * worth more, equals counting half; null without such a pair or when all are worth the same. 0.5 is chance. It is
   * the area under the ROC curve of worth against the labels.
   */
  readonly auc: number | null;
}

/**
 * @param scores of the candidates
 * @param worth of the same candidates, e.g. their Monte-Carlo values
 */
export function rankingQuality(scores: readonly number[], worth: readonly number[]): RankingQuality {
  const { good, bad } = halves(scores);
  const pairs = good.flatMap((high) => bad.map((low) => Math.sign(worth[high]! - worth[low]!)));
  const known = pairs.length > 0 && new Set(worth).size > 1;
  return {
    correlation: rankCorrelation(scores, worth),
    auc: known ? pairs.reduce((sum, sign) => sum + (sign + 1) / 2, 0) / pairs.length : null,
  };
}

/** The better and the worse half, the middle one of an odd number left out, as the trainer's ranking calls them. */
function halves(scores: readonly number[]): { good: number[]; bad: number[] } {
  const order = scores.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || a - b);
  const half = Math.floor(order.length / 2);
  if (new Set(scores).size < 2) return { good: [], bad: [] };
  return { good: order.slice(0, half), bad: order.slice(order.length - half) };
}

/** Spearman's ρ, equal values sharing their mean rank; null when one side has only one value. */
export function rankCorrelation(left: readonly number[], right: readonly number[]): number | null {
  const a = centred(ranks(left));
  const b = centred(ranks(right));
  const norm = Math.sqrt(dot(a, a) * dot(b, b));
  return norm === 0 ? null : dot(a, b) / norm;
}

function ranks(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal - 1) / 2;
  });
}

const centred = (values: readonly number[]): number[] => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
};

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);
