import { t } from '../language';
import { grouped } from '../language/numbers';
import type { Axis } from './protocol';

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];

/** Writes a place on the x-axis in a sentence: `step 1,200` or `12 min 30 s`. @param x a step, or seconds */
export const placeWords = (x: number, axis: Axis): string =>
  axis === 'step' ? t('step {0}', grouped(Math.round(x))) : durationWords(x);

/** Writes a duration without its empty parts, below a minute with a tenth: `45.5 s`, `12 min`, `2 h 5 min 30 s`. */
export function durationWords(exact: number): string {
  const tenths = Number(exact.toFixed(1));
  if (tenths < MINUTE) return t('{0} s', grouped(tenths));
  const seconds = Math.round(exact);
  const [hours, minutes, rest] = [
    Math.floor(seconds / HOUR),
    Math.floor(seconds / MINUTE) % 60,
    seconds % 60,
  ];
  const parts = [
    hours > 0 && t('{0} h', grouped(hours)),
    minutes > 0 && t('{0} min', minutes),
    rest > 0 && t('{0} s', rest),
  ];
  return parts.filter((part) => part !== false).join(' ');
}

/** Intervals between labels of a time axis, in seconds; decimal ones would give labels such as `8 min 20 s`. */
const INTERVALS = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
];
const MAX_LABELS = 6;

export function timeLabels({ from, to }: { readonly from: number; readonly to: number }): number[] {
  const least = (to - from) / MAX_LABELS;
  // From a minute on, durations are written without tenths.
  const shortest = to < MINUTE ? 0 : 1;
  const interval = INTERVALS.find((one) => one >= least && one >= shortest) ?? Math.ceil(least / DAY) * DAY;
  const [first, last] = [Math.ceil(from / interval), Math.floor(to / interval)];
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * interval).toFixed(1)),
  );
}
