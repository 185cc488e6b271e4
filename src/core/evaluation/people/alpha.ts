import { mulberry32 } from '../../random';
import type { Interval } from '../interval';

/** Values differ as names, or as ranks. */
type Scale = 'nominal' | 'ordinal';

export interface Alpha {
  /**
   * 1: people always agree; 0: as often as by chance; below 0: less often. Undefined if nothing was judged twice, or
   * all values are the same, so that agreement cannot be told from chance.
   */
  readonly alpha: number | undefined;
  /** 95 % over units, see `intervalOf`; absent with few units. */
  readonly interval?: Interval;
  /** Judged by at least two people. */
  readonly units: number;
  readonly values: number;
}

/** Units with the same values in any order: `counts[v]` people gave the value with the rank `v`. */
interface Pattern {
  readonly counts: readonly number[];
  units: number;
}

/** Maximum steps of the bootstrap, and its maximum and minimum draws. */
const WORK = 1e7;
const DRAWS = { most: 2000, least: 200 };
/** Share of the draws beyond each end. */
const OUTSIDE = 0.025;
/** Below so many units an interval would say next to nothing. */
const UNITS = 6;

/**
 * Krippendorff's alpha (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011) for any number of people, with
 * missing values.
 * @param units the values of each judged thing, one a person; a unit with fewer than two values is left out
 * @param order all values from the lowest to the highest
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
  const interval = intervalOf(patterns, summary, order.length, scale);
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

/** @param numbers number of units of each pattern, or their weight */
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
  const [low, high] = a < b ? [a, b] : [b, a];
  const between = totals.slice(low, high + 1).reduce((sum, total) => sum + total, 0);
  return between - (totals[low]! + totals[high]!) / 2;
}

/**
 * 95 % interval by the Bayesian bootstrap (Rubin, The Bayesian Bootstrap, 1981), in which each draw gives the units
 * random weights. For each end one unit is added to the judged ones: for the low end the one that lowers alpha most,
 * for the high end the one that raises it most. Gaffke bounds a mean in this way (Learned-Miller and Thomas, A New
 * Confidence Interval for the Mean of a Bounded Random Variable, 2019).
 * For two people and two values, this gives the share of units on which they differ the exact interval of Clopper and
 * Pearson (1934). It reaches to 1 − 0.025^(1/n), about 3.7 / n, where they differ on none of n units. The usual
 * bootstrap (Zapf et al., Measuring Inter-Rater Reliability for Nominal Data, 2016) has 1 to 1 there, because it draws
 * only from the judged units.
 */
function intervalOf(
  patterns: readonly Pattern[],
  { units, values }: { readonly units: number; readonly values: number },
  size: number,
  scale: Scale,
): Interval | undefined {
  if (units < UNITS) return undefined;
  const sizes = [...patterns.map((pattern) => pattern.units), 1];
  const [worst, best] = extremes(patterns, sizes, Math.round(values / units), size, scale);
  const random = mulberry32(1);
  const draws = Math.min(DRAWS.most, Math.max(DRAWS.least, Math.floor(WORK / units)));
  const lows = new Float64Array(draws);
  const highs = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++) {
    const weights = weigh(sizes, random);
    lows[draw] = fromPatterns([...patterns, worst], weights, size, scale)!;
    highs[draw] = fromPatterns([...patterns, best], weights, size, scale)!;
  }
  const outside = Math.round(OUTSIDE * (draws - 1));
  return { low: lows.sort()[outside]!, high: highs.sort()[draws - 1 - outside]! };
}

/**
 * The units that lower and raise alpha most. In each tried unit, half of the people give one value and half another or
 * the same; each value occurs elsewhere.
 */
function extremes(
  patterns: readonly Pattern[],
  sizes: readonly number[],
  people: number,
  size: number,
  scale: Scale,
): [worst: Pattern, best: Pattern] {
  const said = [...Array(size).keys()].filter((value) => patterns.some(({ counts }) => counts[value]! > 0));
  const possible = said.flatMap((a, index) =>
    said.slice(index).map((b) => {
      const counts = Array<number>(size).fill(0);
      counts[a]! += Math.ceil(people / 2);
      counts[b]! += Math.floor(people / 2);
      const pattern = { counts, units: 1 };
      return { pattern, alpha: fromPatterns([...patterns, pattern], sizes, size, scale)! };
    }),
  );
  possible.sort((a, b) => a.alpha - b.alpha);
  return [possible[0]!.pattern, possible.at(-1)!.pattern];
}

/**
 * The weights of single units are exponential, scaled to a mean of 1.
 * @param sizes number of units of each pattern
 */
function weigh(sizes: readonly number[], random: () => number): number[] {
  const drawn = sizes.map((units) => {
    let sum = 0;
    for (let unit = 0; unit < units; unit++) sum -= Math.log(1 - random());
    return sum;
  });
  const scale = sizes.reduce((sum, units) => sum + units, 0) / drawn.reduce((sum, weight) => sum + weight, 0);
  return drawn.map((weight) => weight * scale);
}
