import type { ChartName, Choice, CurvesView, FigureName, Look, PinMessage } from '../chart/protocol';
import type { Table } from '../report/protocol';
import type { SaveMessage } from '../ui/protocol';

export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  /** Reason why the run's model cannot be evaluated here; empty when it can. */
  readonly silent: string;
  /** Reason why the run is evaluated without its base model; empty when it is evaluated with it. */
  readonly startSilent: string;
}

/** Runs that were evaluated on the same tasks and seeds. */
export interface MeasuredRunsView {
  readonly key: string;
  /** Tasks of the evaluation: `starter, 64 tasks`. */
  readonly title: string;
  /** Setting and date of the evaluation: `greedy, one dialogue per task with rules; 22 Nov 2026`. */
  readonly how: string;
  readonly table: Table;
  /** Indices of the runs that were not evaluated on these tasks; the last rows of the table are theirs. */
  readonly missing: readonly number[];
}

export interface ComparisonView {
  readonly type: 'show';
  /** The editor restores the page from `dataFolder` and `ids` after a reload of the window. */
  readonly dataFolder: string;
  readonly ids: readonly string[];
  readonly runs: readonly ComparedRun[];
  readonly table: Table;
  /** Stages with curves in any of the runs. */
  readonly stages: readonly { readonly name: string; readonly label: string }[];
  /** Stage whose figures are shown; empty before there are any. */
  readonly stage: string;
  readonly figures: readonly FigureName[];
  readonly figure: FigureName;
  /** Pinned charts that any of the runs has, in the order of pinning. */
  readonly pinned: readonly ChartName[];
  /** Absent where the configurations are the same. */
  readonly differences?: Table;
  /** Latest evaluation first. */
  readonly measured: readonly MeasuredRunsView[];
  readonly critics?: Table;
  /** Reason why nothing can be evaluated here; empty when it can. */
  readonly restriction: string;
  /** Progress of the evaluation that is being played; empty when there is none. */
  readonly playing: string;
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
