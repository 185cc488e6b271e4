import type { SaveMessage } from '../saving/protocol';

/**
 * Messages between the page of the statistics and the extension host. The page sends `ready` and gets everything, and
 * again whenever the log or the filter has changed.
 */

/** A statistic with its 95 % interval, which is absent when there are too few values. */
export interface Figure {
  readonly value: number;
  readonly interval?: { readonly low: number; readonly high: number };
}

export interface PageScoresView {
  /** What measures the score, in words: `structure 1, mode fixed, drawn by …`. */
  readonly scale: string;
  readonly dialogues: number;
  /** 0 to 1. */
  readonly score: Figure;
}

export interface GroupView {
  readonly name: string;
  readonly dialogues: number;
  readonly graded: number;
  /** Success rate, 0 to 1; web pages without checks have none. */
  readonly success?: Figure;
  /** Mean scores of web pages, one entry for each measure. */
  readonly pages?: readonly PageScoresView[];
  /** Mean number of agent turns in answered dialogues. */
  readonly turns?: Figure;
  /** Fraction of dialogues with a leak, 0 to 1. */
  readonly leak?: Figure;
  /** Seconds that a developer takes for one reply, median over dialogues. */
  readonly replySeconds?: Figure;
}

export const groupings = ['agent', 'pack', 'collaborator'] as const;
export type Grouping = (typeof groupings)[number];

export type Unit = 'hour' | 'day' | 'week' | 'month';

export interface ToWebview {
  readonly type: 'show';
  /** Summary: `1,204 · 41 % success (38–44 %) · 0.6 % leaked`; empty while there is nothing. */
  readonly headline: string;
  /** The filter of the list of dialogues, in words; empty when there is none. */
  readonly filter: string;
  /** Length of a period. */
  readonly unit: Unit;
  /** Periods, oldest first; `name` is the day or hour at which a period begins. */
  readonly periods: readonly GroupView[];
  readonly groups: Readonly<Record<Grouping, readonly GroupView[]>>;
}

export type FromWebview =
  { readonly type: 'ready' } | { readonly type: 'filter' } | { readonly type: 'play' } | SaveMessage;

export interface PanelState {
  readonly grouping: Grouping;
  readonly asTables: boolean;
}
