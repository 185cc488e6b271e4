import type { CurvePart, FigureName, Look } from '../chart/protocol';
import type { RunState } from '../run/protocol';

/**
 * What the webview that compares runs and the extension host say to each other. The view says `ready` with what it shows
 * and gets everything; from then on the host sends what has changed.
 */

export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  /** `SWEET-RL on starter`. */
  readonly subject: string;
  /** `1,800 trajectories of 300 tasks`; empty while nobody knows. */
  readonly data: string;
  readonly state: RunState;
  readonly stateLabel: string;
  /** Why it cannot be evaluated here; empty where it can. */
  readonly silent: string;
  /** Why the model that it began with is not evaluated beside it; empty where it is. */
  readonly startSilent: string;
}

/** A field that configurations do not agree in; absent where a run leaves it to the default. */
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

/** Second − first on the same tasks and seeds. */
export interface PairedView {
  readonly difference: number | null;
  /** Absent with too few tasks. */
  readonly interval?: { readonly low: number; readonly high: number };
  readonly p: number | null;
  readonly tasks: number;
}

export interface StandingRowView {
  /** Which of the runs; absent of a model that runs began with. */
  readonly run?: number;
  readonly name: string;
  readonly success: EstimateView;
  readonly testsPassed: EstimateView;
  /** Graded ones. */
  readonly dialogues: number;
  readonly turns: number | null;
  readonly againstStart?: PairedView;
  readonly againstFirst?: PairedView;
}

/** Runs that were measured on the same tasks and seeds. */
export interface StandingView {
  readonly key: string;
  /** `starter, 64 tasks`. */
  readonly title: string;
  /** `greedy, 1 dialogue per task with rules; 22 Nov 2026`. */
  readonly how: string;
  readonly rows: readonly StandingRowView[];
}

/** A critic beside its control. */
export interface ControlView {
  readonly run: number;
  readonly stage: string;
  /** What was ranked; null before that. */
  readonly histories: number | null;
  readonly candidates: number | null;
  readonly accuracy: number | null;
  /** The control's, on the same pairs, and how many these are; null where the run does not tell. */
  readonly untrainedAccuracy: number | null;
  readonly pairs: number | null;
  readonly correlation: number | null;
  readonly spread: number | null;
  readonly untrainedSpread: number | null;
}

export interface ComparisonView {
  readonly type: 'show';
  /** The data folder and the ids: with them the editor brings the view back after a reload. */
  readonly dataFolder: string;
  readonly ids: readonly string[];
  readonly runs: readonly ComparedRun[];
  /** Those with curves in any of the runs. */
  readonly stages: readonly { readonly name: string; readonly label: string }[];
  /** Whose figures are shown; empty before there are any. */
  readonly stage: string;
  readonly figures: readonly FigureName[];
  readonly figure: FigureName;
  readonly differences: readonly DifferenceView[];
  /** The latest first. */
  readonly standings: readonly StandingView[];
  readonly controls: readonly ControlView[];
  /** Why nothing is evaluated here; empty where it can be. */
  readonly restriction: string;
  /** How far an evaluation is that is being played; empty when none is. */
  readonly playing: string;
}

export interface RunCurves {
  readonly training: CurvePart;
  readonly heldOut: CurvePart;
}

export interface CurvesView {
  readonly type: 'curves';
  readonly stage: string;
  readonly figure: FigureName;
  /** What is new of each run, in their order; nothing of one that has no such figure. */
  readonly curves: readonly RunCurves[];
}

export type ToWebview = ComparisonView | CurvesView;

export const actions = ['evaluate', 'report', 'diff', 'trust'] as const;
export type Action = (typeof actions)[number];

/** What a person has chosen to see. */
export interface Choice {
  readonly stage?: string;
  readonly figure?: FigureName;
}

export type FromWebview =
  | { readonly type: 'ready' | 'choose'; readonly choice: Choice }
  | { readonly type: 'act'; readonly action: Action }
  | { readonly type: 'open'; readonly run: number };

/** What the editor keeps of the view over a reload of the window. */
export interface PanelState extends Look {
  readonly dataFolder: string;
  readonly ids: readonly string[];
  readonly choice: Choice;
  readonly isHeldOut: boolean;
  /** Ids of runs whose lines are switched off. */
  readonly switchedOff: readonly string[];
}
