import type { PairedDifference } from '../paired';
import { difference, rate } from '../words';
import type { TrainedComparison, TrainedComparisons } from './comparison';

/** Direction of the 95 % interval of a paired difference; `open` when it contains 0. */
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

/** Tells whether training helped, in one sentence without its full stop. */
export function verdictOf({ sampled, greedy }: TrainedComparisons): string {
  return VERDICTS[`${wayOf(sampled.success)} ${wayOf(greedy.success)}`];
}

/** Writes `sampled success 31.2 % → 44.9 %, +13.7 points [+9.1, +18.2], p < 0.001`. */
export function successInWords(kind: string, { before, after, success }: TrainedComparison): string {
  const change = `${kind} success ${rate(before.success?.mean)} → ${rate(after.success?.mean)}`;
  return success.difference === null ? change : `${change}, ${difference(success)}`;
}
