/** What of curves goes between a webview and the extension host. */

/** The figures of a step, by their names in the events. */
export const figureNames = [
  'accuracy',
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
] as const;
export type FigureName = (typeof figureNames)[number];

/** In place of everything from the point `from` on; each point is its last step, mean, lowest and highest. */
export interface CurvePart {
  readonly from: number;
  readonly points: readonly number[];
}

/**
 * Which steps are looked at: the last of them, 0 to 1, which move on with a live run, or those between two of a stage.
 */
export type Steps =
  { readonly share: number } | { readonly stage: string; readonly from: number; readonly to: number };

/** How a person looks at curves; the editor keeps it over a reload of the window. */
export interface Look {
  /** 0 to 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly asTable: boolean;
  readonly steps: Steps;
}
