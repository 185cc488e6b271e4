/** Quality of a score's ranking of the candidates of a state, judged by their values. */
export interface RankingQuality {
  /** Spearman's ρ of score and value; null when all scores or all values are equal. */
  readonly correlation: number | null;
  /**
   * Fraction of pairs of a good and a bad candidate, as training would form them, in which the good one has the higher
   * value; equal values count half. This is the area under the ROC curve of value against label; 0.5 is chance. Null
   * without such a pair, or when all values are equal.
   */
  readonly auc: number | null;
}

/**
 * @param scores one for each candidate
 * @param worth the values of the same candidates, e.g. from Monte-Carlo rollouts
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

/** Returns the better and the worse half, as the trainer's ranking does; the middle of an odd number is in neither. */
function halves(scores: readonly number[]): { good: number[]; bad: number[] } {
  const order = scores.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || a - b);
  const half = Math.floor(order.length / 2);
  if (new Set(scores).size < 2) return { good: [], bad: [] };
  return { good: order.slice(0, half), bad: order.slice(order.length - half) };
}

/** Computes Spearman's ρ, where equal values share their mean rank; null when one side has only one value. */
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
