import { t } from '../language';
import { grouped } from '../language/numbers';
import type { Place } from './drawable';
import type { Steps } from './protocol';

/** From one step to another, both in it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** What a picture can show, and what of it is looked at. */
export interface Zoom {
  readonly stage: string;
  readonly all: Range;
  readonly shown: Range;
}

export const allSteps: Steps = { share: 1 };

/** @param curves that are in the picture, of one stage */
export function zoomOf(
  steps: Steps,
  stage: string,
  curves: readonly (readonly { readonly step: number }[])[],
): Zoom {
  const ends = curves.flatMap((points) =>
    points.length === 0 ? [] : [points[0]!.step, points.at(-1)!.step],
  );
  const all = ends.length === 0 ? { from: 0, to: 0 } : { from: Math.min(...ends), to: Math.max(...ends) };
  return { stage, all, shown: shownOf(steps, stage, all) };
}

/** Steps of another stage, or of a run that has no such steps any more, are nothing to look at: then it is all. */
function shownOf(steps: Steps, stage: string, all: Range): Range {
  if ('share' in steps)
    return steps.share === 1 ? all : { from: Math.max(all.from, all.to * (1 - steps.share)), to: all.to };
  const [from, to] = [Math.max(steps.from, all.from), Math.min(steps.to, all.to)];
  return steps.stage === stage && from < to ? { from, to } : all;
}

/** As they are kept: all, or those between two, which stay where they are when a run goes on. */
const stepsOf = ({ stage, all }: Zoom, { from, to }: Range): Steps =>
  from <= all.from && to >= all.to ? allSteps : { stage, from, to };

/** Fewer fill no picture. */
const FEWEST = 2;

/** Around the middle of what is shown. @param factor how many times as many steps */
export function zoomed(zoom: Zoom, factor: number): Steps {
  const { all, shown } = zoom;
  const middle = (shown.from + shown.to) / 2;
  const half = Math.max(FEWEST, (shown.to - shown.from) * factor) / 2;
  return stepsOf(zoom, within({ from: middle - half, to: middle + half }, all));
}

/** @param share of what is shown; below zero: towards the first step */
export function moved(zoom: Zoom, share: number): Steps {
  const { all, shown } = zoom;
  const by = share * (shown.to - shown.from);
  return stepsOf(zoom, within({ from: shown.from + by, to: shown.to + by }, all));
}

/** What the library calls a window: two ends in percent of all. */
export function between(zoom: Zoom, start: number, end: number): Steps {
  const at = (percent: number): number => zoom.all.from + (percent / 100) * (zoom.all.to - zoom.all.from);
  return stepsOf(zoom, { from: at(start), to: at(end) });
}

/** As wide as it is, as far as that goes. */
function within({ from, to }: Range, all: Range): Range {
  const width = Math.min(to - from, all.to - all.from);
  const start = Math.min(Math.max(from, all.from), all.to - width);
  return { from: start, to: start + width };
}

export const isIn = (step: number, { from, to }: Range): boolean => step >= from && step <= to;

/** Those of the points that are looked at. */
export const inRange = <P extends { readonly step: number }>(points: readonly P[], range: Range): P[] =>
  points.filter(({ step }) => isIn(step, range));

/** The part of a line that is looked at, with one place more on each side, so that it does not end inside the picture. */
export function lineInRange(line: readonly Place[], { from, to }: Range): readonly Place[] {
  const first = line.findIndex(([step]) => step >= from);
  const last = line.findLastIndex(([step]) => step <= to);
  return first === -1 || last === -1 ? [] : line.slice(Math.max(0, first - 1), last + 2);
}

/** `120 to 340`. */
export const rangeWords = ({ from, to }: Range): string =>
  t('{0} to {1}', grouped(Math.ceil(from)), grouped(Math.floor(to)));
