/** Decisions that a colleague may have made without saying so, in the order in which a program applies them. */
export const KINDS = [
  'empty',
  'free',
  'threshold',
  'strictness',
  'discount',
  'fee',
  'order',
  'minimum',
  'maximum',
  'rounding',
  'unit',
] as const;

export type DecisionKind = (typeof KINDS)[number];
export type Value = string | number;
export type DecisionValues = Readonly<Partial<Record<DecisionKind, Value>>>;

/**
 * Values that each decision chooses from. No number stands in two sets or elsewhere in a program, so that a number says
 * which decision it belongs to. Every fee is below every minimum and every minimum below every maximum, so that no
 * decision is without effect, whatever the others are.
 */
export const OPTIONS: Readonly<Record<DecisionKind, readonly Value[]>> = {
  empty: [44, 66, 77, 88, 99, 999],
  free: [2, 4, 6, 8, 12, 14],
  threshold: [21, 24, 27, 32, 36, 42],
  strictness: ['>', '>='],
  discount: [15, 20, 25, 30, 35, 40],
  fee: [3, 5, 7, 9, 11, 13],
  order: ['discount first', 'fee first'],
  minimum: [16, 18, 22, 26, 28, 34],
  maximum: [45, 55, 65, 75, 85, 95],
  rounding: ['up', 'nearest', 'down'],
  unit: [50, 60, 80, 250, 500, 1000],
};

/** Amount that is added beyond the threshold, the same in every task. */
export const EXTRA = 10;

/** Each means something beside the others, and the order in which they apply is clear. */
export function fitTogether(kinds: ReadonlySet<DecisionKind>): boolean {
  if (kinds.has('strictness') && !kinds.has('threshold')) return false;
  if (kinds.has('order') !== (kinds.has('discount') && kinds.has('fee'))) return false;
  // It would be unclear whether the threshold counts what is free, and in which unit the result is rounded.
  return !(kinds.has('free') && kinds.has('threshold')) && !(kinds.has('rounding') && kinds.has('unit'));
}
