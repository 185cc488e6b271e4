import type { Table, Words } from '../report/protocol';
import type { SaveMessage } from '../ui/protocol';

export interface CurveView {
  /** `Distillation of starter, 1 Dec 2026, 10:15`. */
  readonly title: string;
  /** The verdict, then the gain that it follows from. */
  readonly findings: readonly Words[];
  /** A row for the untrained model and for each share; success is its last column. */
  readonly table: Table;
  /** True if more dialogues would likely help, so that the page offers to play some. */
  readonly moreHelps: boolean;
}

export interface ToWebview {
  readonly type: 'show';
  /** Newest first. */
  readonly curves: readonly CurveView[];
  /** One sentence for each file that could not be read. */
  readonly problems: readonly string[];
}

export type FromWebview = { readonly type: 'ready' | 'play' | 'collect' } | SaveMessage;
