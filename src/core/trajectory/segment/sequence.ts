import type { Seal } from './line';

export type NumberRange = readonly [first: number, last: number];

/** As far as the segment was read. */
export interface Sequence {
  /** Number of the last readable line; 0 before the first. */
  last: number;
  /** True after the first line with a seal; from then on every line must have one. */
  isSealed: boolean;
  /** Number of lines without a number since the last line with one; each accounts for one number. */
  unreadable: number;
  /** Number of those lines that are known to be about something. */
  told: number;
  /** Ascending ranges of numbers that were removed on purpose, according to the segment's first line. */
  without: readonly NumberRange[];
}

export function newSequence(): Sequence {
  return { last: 0, isSealed: false, unreadable: 0, told: 0, without: [] };
}

/** Result for a line: `refused` says why it is skipped, `missing` which lines are missing before it. */
interface LineVerdict {
  readonly refused?: string;
  readonly missing?: string;
  /** True if lines with unknown content are lost before it; undefined where there are no numbers. */
  readonly isAfterGap?: boolean;
}

/** @param kind kind of the event, if the front of the line is readable */
export function follow(sequence: Sequence, seal: Seal, kind: string | undefined): LineVerdict {
  if (seal === 'none' && !sequence.isSealed) {
    sequence.unreadable += 1;
    sequence.told += 1;
    return {};
  }
  const what = kind === undefined ? 'line' : `${kind} event`;
  if (seal === 'none' || seal === 'broken') {
    sequence.isSealed = true;
    sequence.unreadable += 1;
    return seal === 'broken'
      ? {
          refused: `The ${what} was changed after it was written: its check sum is wrong. It is passed over.`,
        }
      : {
          refused: `The ${what} has no check sum, though the lines before it have one: it was changed, or another program wrote it. It is passed over.`,
        };
  }
  sequence.isSealed = true;
  const number = seal;
  if (number <= sequence.last)
    return {
      refused: `The ${what} stands in a wrong place, or for a second time: it has number ${number} after number ${sequence.last}. It is passed over.`,
    };
  const between = number - sequence.last - 1 - removedBetween(sequence, sequence.last, number);
  const missing = between - sequence.unreadable;
  const isAfterGap = between > sequence.told;
  const before = sequence.last;
  sequence.last = number;
  sequence.unreadable = 0;
  sequence.told = 0;
  if (missing <= 0) return { isAfterGap };
  const lines = missing === 1 ? '1 line is' : `${missing} lines are`;
  return {
    isAfterGap,
    missing: `${lines} missing before this one, which has number ${number}: the last one before it that can be read has ${before === 0 ? 'none' : `number ${before}`}.`,
  };
}

/** How many numbers between the two were removed on purpose. There may be as many ranges as lines. */
function removedBetween({ without }: Sequence, after: number, before: number): number {
  let sum = 0;
  for (let index = firstEndingAfter(without, after); index < without.length; index += 1) {
    const [first, last] = without[index]!;
    if (first >= before) break;
    sum += Math.min(last, before - 1) - Math.max(first, after + 1) + 1;
  }
  return sum;
}

/** Index of the first of ascending ranges that ends after the number. */
function firstEndingAfter(ranges: readonly NumberRange[], number: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]![1] <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function rangesOf(numbers: readonly number[]): NumberRange[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** The union of two lists, as ascending ranges. */
export function joined(one: readonly NumberRange[], other: readonly NumberRange[]): NumberRange[] {
  const ranges: [number, number][] = [];
  for (const [first, last] of [...one, ...other].sort(([a], [b]) => a - b)) {
    const before = ranges.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else ranges.push([first, last]);
  }
  return ranges;
}
