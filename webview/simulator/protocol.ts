import type { Table, Words } from '../report/protocol';
import type { SaveMessage } from '../ui/protocol';

interface Option {
  readonly value: string;
  readonly label: string;
}

export interface GapView {
  /** People and the simulator, then the difference between them. */
  readonly tables: readonly Table[];
  /** Where the simulator is kinder or stricter than people. */
  readonly findings: readonly Words[];
  readonly notes: readonly Words[];
  /** Why replies could not be simulated. */
  readonly failures: readonly string[];
  /** No reply could be compared. */
  readonly isEmpty: boolean;
}

export interface ToWebview {
  readonly type: 'show';
  readonly simulators: readonly Option[];
  readonly simulator: string;
  /** Pseudonyms of those who played. */
  readonly people: readonly string[];
  /** Empty for everyone. */
  readonly person: string;
  /** Of the comparison at work; empty when none is. */
  readonly progress: string;
  /** Why there is no comparison; empty when there is one, or none was asked for. */
  readonly problem: string;
  /** Absent before the first comparison of this choice. */
  readonly gap?: GapView;
}

export const actions = ['compare', 'cancel', 'report', 'play'] as const;
export type Action = (typeof actions)[number];

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'choose'; readonly simulator: string; readonly person: string }
  | { readonly type: 'act'; readonly action: Action }
  | SaveMessage;
