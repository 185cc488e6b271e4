import type { Figure } from '../report/protocol';
import type { RunState } from '../run/protocol';
import type { SaveMessage, Sort } from '../ui/protocol';

export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  /** Empty for none. */
  readonly note: string;
  readonly state: RunState;
  /** State, and how far a run is that trains: `running, critic 61 %`. */
  readonly stateLabel: string;
  readonly method: string;
  readonly base: string;
  /** Number of trajectories and of their tasks; absent when the data are files. */
  readonly trajectories?: number;
  readonly tasks?: number;
  /** Tasks of the latest evaluation: `starter, 64 tasks`; empty without one, and then so are its figures. */
  readonly evaluatedOn: string;
  readonly success?: Figure;
  /** Success minus that of the base model; absent where the base model did not play. */
  readonly gain?: Figure;
  /** Held-out pair accuracy, 0 to 1; absent before it is measured. */
  readonly pairAccuracy?: number;
  /** Time at which it was made, ISO 8601, UTC, and in words. */
  readonly started: string;
  readonly startedLabel: string;
  /** Seconds from then to its last sign of life, and in words; absent for a run that never started. */
  readonly seconds?: number;
  readonly duration: string;
}

export interface ToWebview {
  readonly type: 'show';
  /** Newest first. */
  readonly runs: readonly RunRow[];
}

export const actions = ['compare', 'evaluate', 'tag'] as const;
export type Action = (typeof actions)[number];

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'new' }
  | { readonly type: 'open'; readonly id: string }
  | { readonly type: 'act'; readonly action: Action; readonly ids: readonly string[] }
  | SaveMessage;

export interface PanelState {
  readonly sort: Sort;
  /** Words that a shown run has. */
  readonly text: string;
  readonly ticked: readonly string[];
}
