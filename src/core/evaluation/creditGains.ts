import type { Scored } from '../training/score';
import { average, meanInterval, type Interval } from './interval';

/**
 * How well credits order the turns of a dialogue about a page, by Spearman's rank correlation with the measured gain of
 * each turn's draft. The mean over dialogues in which both vary.
 */
export interface GainCorrelation {
  readonly dialogues: number;
  readonly mean: number;
  /** 95 %, over dialogues; undefined for one. */
  readonly interval: Interval | undefined;
}

/** Undefined without a dialogue in which both credits and gains vary. */
export function gainCorrelation(
  rows: readonly Pick<Scored, 'turns'>[],
  credit: 'advantage' | 'untrained',
): GainCorrelation | undefined {
  const values = rows.flatMap(({ turns }) => {
    const known = turns.flatMap(({ [credit]: value, gain }) =>
      value === null || gain === undefined ? [] : [{ value, gain }],
    );
    const correlation = spearman(
      known.map(({ value }) => value),
      known.map(({ gain }) => gain),
    );
    return correlation === undefined ? [] : [correlation];
  });
  if (values.length === 0) return undefined;
  return { dialogues: values.length, mean: average(values), interval: meanInterval(values) };
}

/** Spearman's ρ; ties share their mean rank. Undefined when one side is constant. */
export function spearman(left: readonly number[], right: readonly number[]): number | undefined {
  const [a, b] = [ranks(left), ranks(right)];
  const middle = (left.length + 1) / 2;
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, rank, index) => sum + (rank - middle) * (y[index]! - middle), 0);
  const spread = product(a, a) * product(b, b);
  return spread > 0 ? product(a, b) / Math.sqrt(spread) : undefined;
}

const ranks = (values: readonly number[]): number[] =>
  values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal + 1) / 2;
  });
