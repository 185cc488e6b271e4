import { mulberry32 } from '../../random';
import type { Interval } from '../interval';

/** Two values differ as names, as ranks, or as numbers. */
export type Scale = 'nominal' | 'ordinal' | 'interval';

/** Krippendorff's alpha of people who judged the same things. */
export interface Alpha {
  /**
   * 1: they always agree; 0: as much as if values were dealt out at random; below 0: less. Undefined if nothing was
   * judged twice, or all judged values are the same, which tells agreement from chance by nothing.
   */
  readonly alpha: number | undefined;
  /** 95 % bootstrap interval over units; absent with few units, and where too few draws have an alpha. */
  readonly interval?: Interval;
  /** Things that at least two people judged. */
  readonly units: number;
  /** Judgements of these. */
  readonly values: number;
}

/** Units that have the same values in any order: `counts[v]` people said the value with the rank `v`. */
interface Pattern {
  readonly counts: readonly number[];
  units: number;
}

/** Steps of the bootstrap at most, and its draws at most and at least. */
const WORK = 2e7;
const DRAWS = { most: 2000, least: 200 };
/** Units from which on their resampling says something of others. */
const UNITS = 6;
/** Share of the draws that must have an alpha for an interval. */
const NEEDED = 0.95;

/**
 * Computes Krippendorff's alpha (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011) for any number of
 * people, with missing values.
 *
 * @param units the values of each thing that was judged, one a person; a unit with fewer than two values is left out
 * @param order all values from the lowest to the highest; `interval` takes them as equally far apart
 */
export function alphaOf<Value>(
  units: readonly (readonly Value[])[],
  order: readonly Value[],
  scale: Scale,
): Alpha {
  const paired = units.filter((values) => values.length >= 2);
  const patterns = patternsOf(paired, order);
  const numbers = patterns.map((pattern) => pattern.units);
  const alpha = fromPatterns(patterns, numbers, order.length, scale);
  const summary = {
    alpha,
    units: paired.length,
    values: paired.reduce((sum, { length }) => sum + length, 0),
  };
  if (alpha === undefined) return summary;
  const interval = bootstrap(patterns, paired.length, order.length, scale);
  return interval ? { ...summary, interval } : summary;
}

function patternsOf<Value>(units: readonly (readonly Value[])[], order: readonly Value[]): Pattern[] {
  const rankOf = new Map(order.map((value, rank) => [value, rank]));
  const known = new Map<string, Pattern>();
  for (const values of units) {
    const counts = order.map(() => 0);
    for (const value of values) counts[rankOf.get(value)!]! += 1;
    const key = counts.join();
    const pattern = known.get(key);
    if (pattern) pattern.units += 1;
    else known.set(key, { counts, units: 1 });
  }
  return [...known.values()];
}

/** @param numbers how many units each pattern stands for */
function fromPatterns(
  patterns: readonly Pattern[],
  numbers: ArrayLike<number>,
  size: number,
  scale: Scale,
): number | undefined {
  // The coincidence matrix: each unit adds its ordered pairs of values, which weigh one for each of its values.
  const pairs = new Float64Array(size * size);
  for (const [index, { counts }] of patterns.entries()) {
    const people = counts.reduce((sum, count) => sum + count, 0);
    const weight = numbers[index]! / (people - 1);
    for (const [a, ofA] of counts.entries()) {
      for (const [b, ofB] of counts.entries())
        pairs[a * size + b]! += weight * ofA * (ofB - (a === b ? 1 : 0));
    }
  }
  const totals = Array.from({ length: size }, (_, a) =>
    pairs.subarray(a * size, (a + 1) * size).reduce((sum, pair) => sum + pair, 0),
  );
  const all = totals.reduce((sum, total) => sum + total, 0);
  let observed = 0;
  let expected = 0;
  for (let a = 0; a < size; a++) {
    for (let b = 0; b < size; b++) {
      const apart = difference(a, b, totals, scale) ** 2;
      observed += pairs[a * size + b]! * apart;
      expected += (totals[a]! * totals[b]! * apart) / (all - 1);
    }
  }
  return expected > 0 ? 1 - observed / expected : undefined;
}

function difference(a: number, b: number, totals: readonly number[], scale: Scale): number {
  if (a === b) return 0;
  if (scale === 'nominal') return 1;
  if (scale === 'interval') return a - b;
  const [low, high] = a < b ? [a, b] : [b, a];
  const between = totals.slice(low, high + 1).reduce((sum, total) => sum + total, 0);
  return between - (totals[low]! + totals[high]!) / 2;
}

function bootstrap(
  patterns: readonly Pattern[],
  units: number,
  size: number,
  scale: Scale,
): Interval | undefined {
  if (units < UNITS) return undefined;
  const random = mulberry32(1);
  const patternOf = patterns.flatMap((pattern, index) => Array<number>(pattern.units).fill(index));
  const draws = Math.min(DRAWS.most, Math.max(DRAWS.least, Math.floor(WORK / units)));
  const alphas: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    const numbers = new Float64Array(patterns.length);
    for (let unit = 0; unit < units; unit++) numbers[patternOf[Math.floor(random() * units)]!]! += 1;
    const alpha = fromPatterns(patterns, numbers, size, scale);
    if (alpha !== undefined) alphas.push(alpha);
  }
  if (alphas.length < NEEDED * draws) return undefined;
  alphas.sort((a, b) => a - b);
  const at = (share: number): number => alphas[Math.round(share * (alphas.length - 1))]!;
  return { low: at(0.025), high: at(0.975) };
}
