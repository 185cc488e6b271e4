import type { Estimate } from './interval';
import type { PairedDifference } from './paired';

// Numbers in reports and on the command line.

/** `31.5 %`. */
export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;

/** `+3.1` percentage points, with a real minus sign. */
export const points = (fraction: number): string =>
  `${fraction < 0 ? '−' : '+'}${Math.abs(100 * fraction).toFixed(1)}`;

export const chance = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`);

/** `31.5 %`, or a dash where there is none. */
export const rate = (fraction: number | null | undefined): string =>
  fraction == null ? '–' : percent(fraction);

/** `31.5 % [27.1, 36.2]`, or a dash where there is none. */
export function estimate(value: Estimate | null): string {
  if (value === null) return '–';
  const { mean, interval } = value;
  return `${percent(mean)} [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;
}

/** `+13.7 points [+9.1, +18.2], p < 0.001`, or a dash where there is none. */
export function difference({ difference: by, interval, p }: PairedDifference): string {
  if (by === null) return '–';
  return [`${points(by)} points${rangeOf(interval)}`, ...(p === null ? [] : [chance(p)])].join(', ');
}

const rangeOf = (interval: PairedDifference['interval']): string =>
  interval === null ? '' : ` [${points(interval.low)}, ${points(interval.high)}]`;
