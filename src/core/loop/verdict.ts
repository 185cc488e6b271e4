import type { PairedDifference } from '../evaluation/paired';
import { chance, percent, points } from '../evaluation/words';
import type { Comparison, Comparisons } from './comparison';

/** Which way the 95 % interval of a paired difference points. */
type Way = 'up' | 'down' | 'open';

function wayOf({ interval }: PairedDifference): Way {
  if (interval === null) return 'open';
  return interval.low > 0 ? 'up' : interval.high < 0 ? 'down' : 'open';
}

const VERDICTS: Readonly<Record<`${Way} ${Way}`, string>> = {
  'up up': 'Training helped',
  'up open': 'Training helped sampled play; greedy play shows no clear difference',
  'up down': 'Training helped sampled play and harmed greedy play',
  'open up': 'Training helped greedy play; sampled play shows no clear difference',
  'open open': 'Training made no difference that these tasks could show',
  'open down': 'Training harmed greedy play; sampled play shows no clear difference',
  'down up': 'Training harmed sampled play and helped greedy play',
  'down open': 'Training harmed sampled play; greedy play shows no clear difference',
  'down down': 'Training made the agent worse',
};

/** Whether training helped, in one sentence without its full stop. */
export function verdictOf({ sampled, greedy }: Comparisons): string {
  return VERDICTS[`${wayOf(sampled.success)} ${wayOf(greedy.success)}`];
}

/** `sampled success 31.2 % → 44.9 %, +13.7 points [+9.1, +18.2], p < 0.001`. */
export function successInWords(kind: string, { before, after, success }: Comparison): string {
  const change = `${kind} success ${rate(before.success?.mean)} → ${rate(after.success?.mean)}`;
  return success.difference === null ? change : `${change}, ${difference(success)}`;
}

/** `+13.7 points [+9.1, +18.2], p < 0.001`. */
export function difference({ difference: by, interval, p }: PairedDifference): string {
  if (by === null) return '–';
  return [`${points(by)} points${rangeOf(interval)}`, ...(p === null ? [] : [chance(p)])].join(', ');
}

const rangeOf = (interval: PairedDifference['interval']): string =>
  interval === null ? '' : ` [${points(interval.low)}, ${points(interval.high)}]`;

export const rate = (fraction: number | null | undefined): string =>
  fraction == null ? '–' : percent(fraction);
