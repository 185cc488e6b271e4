import type { ChartName, Choice, CurvePart, FigureName, Look, PinMessage } from '../chart/protocol';
import type { RunState } from '../run/protocol';
import type { SaveMessage } from '../saving/protocol';

/**
 * Messages between the page that compares runs and the extension host. The page sends `ready` with the person's choice
 * and gets everything; from then on the host sends what has changed.
 */

export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  /** Method and base model: `SWEET-RL on starter`. */
  readonly subject: string;
  /** Training data: `1,800 dialogues of 300 tasks`; empty while unknown. */
  readonly data: string;
  readonly state: RunState;
  readonly stateLabel: string;
  /** Reason why the run's model cannot be evaluated here; empty when it can. */
  readonly silent: string;
  /** Reason why the run is evaluated without its base model; empty when it is evaluated with it. */
  readonly startSilent: string;
}

/** A field in which configurations differ. `values` has one entry for each run; null means the default. */
export interface DifferenceView {
  readonly field: string;
  readonly values: readonly (string | null)[];
}

/** A mean with its 95 % interval; null where nothing was measured. */
export type EstimateView = {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
} | null;

/** Difference of two success rates, second − first, on the same tasks and seeds. */
export interface PairedView {
  readonly difference: number | null;
  /** 95 % interval; absent when there are too few tasks. */
  readonly interval?: { readonly low: number; readonly high: number };
  readonly p: number | null;
  readonly tasks: number;
}

export interface MeasuredRowView {
  /** Index of the run; absent for a base model. */
  readonly run?: number;
  readonly name: string;
  readonly success: EstimateView;
  readonly testsPassed: EstimateView;
  /** Number of graded dialogues. */
  readonly dialogues: number;
  readonly turns: number | null;
  readonly againstStart?: PairedView;
  readonly againstFirst?: PairedView;
}

/** Runs that were evaluated on the same tasks and seeds. */
export interface MeasuredRunsView {
  readonly key: string;
  /** Tasks of the evaluation: `starter, 64 tasks`. */
  readonly title: string;
  /** Setting and date of the evaluation: `greedy, one dialogue per task with rules; 22 Nov 2026`. */
  readonly how: string;
  readonly rows: readonly MeasuredRowView[];
  /** Indices of the runs that were not evaluated on these tasks. */
  readonly missing: readonly number[];
}

export interface ControlView {
  readonly run: number;
  readonly stage: string;
  /** `histories` and `candidates`: numbers of what the critic ranked; null before the ranking. */
  readonly histories: number | null;
  readonly candidates: number | null;
  readonly accuracy: number | null;
  /** Accuracy of the untrained baseline on the same `pairs`; both are null when the run does not tell them. */
  readonly untrainedAccuracy: number | null;
  readonly pairs: number | null;
  /** Rank correlation with the gains of drafts on held-out pages, and its 95 % interval; null for functions. */
  readonly gains: {
    readonly mean: number;
    readonly low: number | null;
    readonly high: number | null;
  } | null;
  readonly correlation: number | null;
  readonly spread: number | null;
  readonly untrainedSpread: number | null;
}

export interface ComparisonView {
  readonly type: 'show';
  /** The editor restores the page from `dataFolder` and `ids` after a reload of the window. */
  readonly dataFolder: string;
  readonly ids: readonly string[];
  readonly runs: readonly ComparedRun[];
  /** Stages with curves in any of the runs. */
  readonly stages: readonly { readonly name: string; readonly label: string }[];
  /** Stage whose figures are shown; empty before there are any. */
  readonly stage: string;
  readonly figures: readonly FigureName[];
  readonly figure: FigureName;
  /** Pinned charts that any of the runs has, in the order of pinning. */
  readonly pinned: readonly ChartName[];
  readonly differences: readonly DifferenceView[];
  /** Latest evaluation first. */
  readonly measured: readonly MeasuredRunsView[];
  readonly controls: readonly ControlView[];
  /** Reason why nothing can be evaluated here; empty when it can. */
  readonly restriction: string;
  /** Progress of the evaluation that is being played; empty when there is none. */
  readonly playing: string;
}

export interface RunCurves {
  readonly training: CurvePart;
  readonly heldOut: CurvePart;
}

/** New points of the charts that are shown: the chosen one and the pinned ones. */
export interface CurvesView {
  readonly type: 'curves';
  readonly charts: readonly ChartCurves[];
}

interface ChartCurves extends ChartName {
  /** New points of each run, in the order of the runs; both parts are empty for a run without this figure. */
  readonly curves: readonly RunCurves[];
}

export type ToWebview = ComparisonView | CurvesView;

export const actions = ['evaluate', 'report', 'diff', 'trust'] as const;
export type Action = (typeof actions)[number];

export type FromWebview =
  | { readonly type: 'ready' | 'choose'; readonly choice: Choice }
  | { readonly type: 'act'; readonly action: Action }
  | { readonly type: 'open'; readonly run: number }
  | PinMessage
  | SaveMessage;

export interface PanelState extends Look {
  readonly dataFolder: string;
  readonly ids: readonly string[];
  readonly choice: Choice;
  readonly isHeldOut: boolean;
  /** Ids of runs whose lines are switched off. */
  readonly switchedOff: readonly string[];
}
