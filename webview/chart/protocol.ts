/** Parts of messages about curves; the pages of runs and of comparisons share them. */

/** Metrics of a training step, by their names in the trainer's events. */
export const figureNames = [
  'accuracy',
  'success',
  'reward',
  'loss',
  'margin',
  'kl',
  'nll',
  'log_ratio_chosen',
  'log_ratio_rejected',
  'gradient_norm',
  'learning_rate',
  'tokens_per_second',
  'memory_mb',
  'gpu_use',
  'mfu',
  'sampler_difference',
  'entropy',
  'waiting',
] as const;
export type FigureName = (typeof figureNames)[number];

/**
 * New end of a curve, in place of everything from the point `from` on. `points` is flat, with four numbers for each
 * point: its last step, mean, lowest and highest value.
 */
export interface CurvePart {
  readonly from: number;
  readonly points: readonly number[];
}

/**
 * Range of steps that is shown. `share`: the last fraction of all steps, 0 to 1, which moves on with a live run.
 * `from` and `to`: a fixed range in one stage.
 */
export type Steps =
  { readonly share: number } | { readonly stage: string; readonly from: number; readonly to: number };

/** The person's settings of the chart; the editor keeps them when the window is reloaded. */
export interface Look {
  /** Weight of the past in the moving average, 0 to below 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly asTable: boolean;
  readonly steps: Steps;
}
