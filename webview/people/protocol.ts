import type { Table, Words } from '../report/protocol';
import type { SaveMessage } from '../ui/protocol';

export const judgements = ['stars', 'thumbs', 'choices'] as const;
export type Judgement = (typeof judgements)[number];

export interface OpinionView {
  readonly by: string;
  /** 1 to 5 stars; `up` or `down`; the candidate shown first (0) or second (1), `equal` or `neither`. */
  readonly value: number | string;
  readonly comment?: string;
}

export interface DisagreementView {
  readonly kind: Judgement;
  readonly episode: string;
  readonly title: string;
  readonly turn?: number;
  /** The agent's message that was judged, or the two between which was chosen, in the order in which they were shown. */
  readonly messages?: readonly string[];
  readonly said: readonly OpinionView[];
}

export interface ToWebview {
  readonly type: 'show';
  /** The filter of the list of dialogues, in words; empty when there is none. */
  readonly filter: string;
  readonly people: Table;
  readonly notes: readonly Words[];
  /** A row for each kind of judgement: alpha, what was judged, and how far one may rely on it. */
  readonly alpha: Table;
  /** The furthest apart first; `left` more are not shown. */
  readonly disagreements: readonly DisagreementView[];
  readonly left: number;
  /** Absent without choices between pages, and until these are drawn; a sentence where they cannot be drawn. */
  readonly measures?: { readonly table: Table; readonly note: Words } | string;
}

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'filter' | 'simulator' }
  | { readonly type: 'open'; readonly episode: string }
  | SaveMessage;

export interface PanelState {
  /** The kind of disagreements that are shown; absent: all. */
  readonly kind?: Judgement;
}
