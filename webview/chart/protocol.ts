import { figures } from '../../media/events.schema.json';

/** Parts of messages about curves; the pages of runs and of comparisons share them. */

export type FigureName = keyof typeof figures;

/** Metrics of training, by their names in the trainer's events (`events.py`). */
export const figureNames = Object.keys(figures) as readonly FigureName[];

export interface ChartName {
  readonly stage: string;
  readonly figure: FigureName;
}

export const chartKey = ({ stage, figure }: ChartName): string => `${stage} ${figure}`;

/** Stage and figure that the person chose; the host chooses what is absent. */
export type Choice = Partial<ChartName>;

export interface PinMessage extends ChartName {
  readonly type: 'pin';
  readonly isPinned: boolean;
}

export const MAX_PINNED = 6;

/**
 * New end of a curve, in place of everything from the point `from` on. `points` is flat, with five numbers for each
 * point: its last step, the training time there in seconds, mean, lowest and highest value.
 */
export interface CurvePart {
  readonly from: number;
  readonly points: readonly number[];
  /** Number of values that a point averages; the last point may hold fewer. */
  readonly valuesPerPoint: number;
}

/** New points of the charts that are shown: the chosen one and the pinned ones. */
export interface CurvesView {
  readonly type: 'curves';
  readonly charts: readonly ChartCurves[];
}

interface ChartCurves extends ChartName {
  /** Of each run of the page; both parts are empty for a run without this figure. */
  readonly curves: readonly { readonly training: CurvePart; readonly heldOut: CurvePart }[];
}

/** X-axis of the curves: steps, or training time in seconds. */
export const axes = ['step', 'time'] as const;
export type Axis = (typeof axes)[number];

/**
 * Range of the x-axis that is shown. `share`: the last fraction of it, 0 to 1, which moves on with a live run. `from`
 * and `to`: a fixed range in one stage, in steps or in seconds, as the axis is.
 */
export type Steps =
  { readonly share: number } | { readonly stage: string; readonly from: number; readonly to: number };

/** The person's settings of the chart; the editor keeps them when the window is reloaded. */
export interface Look {
  /** Weight of the past in the moving average, 0 to below 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly asTable: boolean;
  readonly axis: Axis;
  readonly steps: Steps;
}
