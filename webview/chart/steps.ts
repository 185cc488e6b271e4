import { t } from '../language';
import { grouped } from '../language/numbers';
import type { LinePoint } from './curves';
import type { Steps } from './protocol';

/** Range of steps that includes both ends; a zoomed end may lie between two steps. */
interface StepRange {
  readonly from: number;
  readonly to: number;
}

/** All steps of a stage that the picture can show, and the range that it shows. */
export interface Zoom {
  readonly stage: string;
  readonly all: StepRange;
  readonly shown: StepRange;
}

export const allSteps: Steps = { share: 1 };

/** @param curves all curves of the picture, of one stage */
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

/** Falls back to all steps when the kept range is of another stage, or of steps that the run no longer has. */
function shownOf(steps: Steps, stage: string, all: StepRange): StepRange {
  if ('share' in steps)
    return steps.share === 1 ? all : { from: Math.max(all.from, all.to * (1 - steps.share)), to: all.to };
  const [from, to] = [Math.max(steps.from, all.from), Math.min(steps.to, all.to)];
  return steps.stage === stage && from < to ? { from, to } : all;
}

/** Returns the range to keep: all steps, or a fixed range, which does not move when a run goes on. */
const stepsOf = ({ stage, all }: Zoom, { from, to }: StepRange): Steps =>
  from <= all.from && to >= all.to ? allSteps : { stage, from, to };

/** Minimum width of the shown range, in steps. */
const FEWEST = 2;

/** Zooms around the middle of the shown range. @param factor new width divided by the old one */
export function zoomed(zoom: Zoom, factor: number): Steps {
  const { all, shown } = zoom;
  const middle = (shown.from + shown.to) / 2;
  const half = Math.max(FEWEST, (shown.to - shown.from) * factor) / 2;
  return stepsOf(zoom, within({ from: middle - half, to: middle + half }, all));
}

/** Moves the shown range. @param share fraction of its width; negative towards the first step */
export function moved(zoom: Zoom, share: number): Steps {
  const { all, shown } = zoom;
  const by = share * (shown.to - shown.from);
  return stepsOf(zoom, within({ from: shown.from + by, to: shown.to + by }, all));
}

/** Returns the range of an ECharts zoom event, which gives both ends in percent of all steps. */
export function between(zoom: Zoom, start: number, end: number): Steps {
  const at = (percent: number): number => zoom.all.from + (percent / 100) * (zoom.all.to - zoom.all.from);
  return stepsOf(zoom, { from: at(start), to: at(end) });
}

/** Shifts a range into `all` and keeps its width, unless it is wider than `all`. */
function within({ from, to }: StepRange, all: StepRange): StepRange {
  const width = Math.min(to - from, all.to - all.from);
  const start = Math.min(Math.max(from, all.from), all.to - width);
  return { from: start, to: start + width };
}

export const isIn = (step: number, { from, to }: StepRange): boolean => step >= from && step <= to;

export const inRange = <P extends { readonly step: number }>(points: readonly P[], range: StepRange): P[] =>
  points.filter(({ step }) => isIn(step, range));

/** Returns the part of a line within the range and one point on each side, so that it does not end in the picture. */
export function lineInRange(line: readonly LinePoint[], { from, to }: StepRange): readonly LinePoint[] {
  const first = line.findIndex(([step]) => step >= from);
  const last = line.findLastIndex(([step]) => step <= to);
  return first === -1 || last === -1 ? [] : line.slice(Math.max(0, first - 1), last + 2);
}

/** Writes the whole steps of a range: `120 to 340`. */
export const rangeWords = ({ from, to }: StepRange): string =>
  t('{0} to {1}', grouped(Math.ceil(from)), grouped(Math.floor(to)));
