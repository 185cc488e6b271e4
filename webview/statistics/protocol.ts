import type { Table } from '../report/protocol';
import type { SaveMessage } from '../ui/protocol';

export const groupings = ['agent', 'pack', 'collaborator'] as const;
export type Grouping = (typeof groupings)[number];

export type Unit = 'hour' | 'day' | 'week' | 'month';

/** The first two columns of a table count dialogues and those that are graded. */
export interface ToWebview {
  readonly type: 'show';
  /** Summary: `1,204 · 41 % success (38–44 %) · 0.6 % leaked`; empty while there is nothing. */
  readonly headline: string;
  /** The filter of the list of dialogues, in words; empty when there is none. */
  readonly filter: string;
  /** Length of a period. */
  readonly unit: Unit;
  /** Oldest first; a row has the name of the day or hour at which its period begins. */
  readonly periods: Table;
  readonly groups: Readonly<Record<Grouping, Table>>;
}

export type FromWebview =
  { readonly type: 'ready' } | { readonly type: 'filter' } | { readonly type: 'play' } | SaveMessage;

export interface PanelState {
  readonly grouping: Grouping;
  readonly asTables: boolean;
}
