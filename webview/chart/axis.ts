import { t, grouped } from '../language';
import type { Axis, Look, Steps } from './protocol';
import type { LinePoint } from './curves';

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

/** Range of the x-axis that includes both ends; a zoomed end may lie between two points. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Zoom {
  readonly axis: Axis;
  readonly stage: string;
  readonly all: Range;
  readonly shown: Range;
}

export const allSteps: Steps = { share: 1 };

/** @param curves all curves of the picture, of one stage, placed on the axis */
export function zoomOf(
  { axis, steps }: Pick<Look, 'axis' | 'steps'>,
  stage: string,
  curves: readonly (readonly { readonly x: number }[])[],
): Zoom {
  const ends = curves.flatMap((points) => (points.length === 0 ? [] : [points[0]!.x, points.at(-1)!.x]));
  const all = ends.length === 0 ? { from: 0, to: 0 } : { from: Math.min(...ends), to: Math.max(...ends) };
  return { axis, stage, all, shown: shownOf(steps, stage, all) };
}

/** Falls back to the whole axis when the kept range is of another stage or of steps that no longer exist. */
function shownOf(steps: Steps, stage: string, all: Range): Range {
  if ('share' in steps)
    return steps.share === 1 ? all : { from: all.to - steps.share * (all.to - all.from), to: all.to };
  const [from, to] = [Math.max(steps.from, all.from), Math.min(steps.to, all.to)];
  return steps.stage === stage && from < to ? { from, to } : all;
}

/** A fixed range does not move while a run continues. */
const stepsOf = ({ stage, all }: Zoom, { from, to }: Range): Steps =>
  from <= all.from && to >= all.to ? allSteps : { stage, from, to };

/** Minimum width of the shown range, in steps or in seconds. */
const MIN_VISIBLE: Readonly<Record<Axis, number>> = { step: 2, time: 1 };

/** Zooms around the middle of the shown range. @param factor new width divided by the old one */
export function zoomed(zoom: Zoom, factor: number): Steps {
  const { all, shown } = zoom;
  const middle = (shown.from + shown.to) / 2;
  const half = Math.max(MIN_VISIBLE[zoom.axis], (shown.to - shown.from) * factor) / 2;
  return stepsOf(zoom, within({ from: middle - half, to: middle + half }, all));
}

/** Moves the shown range. @param share fraction of its width; negative towards its start */
export function moved(zoom: Zoom, share: number): Steps {
  const { all, shown } = zoom;
  const by = share * (shown.to - shown.from);
  return stepsOf(zoom, within({ from: shown.from + by, to: shown.to + by }, all));
}

/** An ECharts zoom event gives both ends in percent of the whole axis. */
export function between(zoom: Zoom, start: number, end: number): Steps {
  const at = (percent: number): number => zoom.all.from + (percent / 100) * (zoom.all.to - zoom.all.from);
  return stepsOf(zoom, { from: at(start), to: at(end) });
}

/** Shifts a range into `all` and keeps its width, unless it is wider than `all`. */
function within({ from, to }: Range, all: Range): Range {
  const width = Math.min(to - from, all.to - all.from);
  const start = Math.min(Math.max(from, all.from), all.to - width);
  return { from: start, to: start + width };
}

export const isIn = (x: number, { from, to }: Range): boolean => x >= from && x <= to;

export const inRange = <P extends { readonly x: number }>(points: readonly P[], range: Range): P[] =>
  points.filter(({ x }) => isIn(x, range));

/** With one point on each side of the range, so that the line does not end in the picture. */
export function lineInRange(line: readonly LinePoint[], { from, to }: Range): readonly LinePoint[] {
  const first = line.findIndex(([x]) => x >= from);
  const last = line.findLastIndex(([x]) => x <= to);
  return first === -1 || last === -1 ? [] : line.slice(Math.max(0, first - 1), last + 2);
}

/** `120 to 340`, `5 min to 12 min 30 s` */
export const rangeWords = ({ axis, shown: { from, to } }: Pick<Zoom, 'axis' | 'shown'>): string =>
  axis === 'step'
    ? t('{0} to {1}', grouped(Math.ceil(from)), grouped(Math.floor(to)))
    : t('{0} to {1}', durationWords(from), durationWords(to));
