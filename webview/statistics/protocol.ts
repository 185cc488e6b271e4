/**
 * What the statistics' webview and the extension host say to each other. The view says `ready` and gets everything,
 * again whenever the log or the filter has changed.
 */

/** A figure with its 95 % interval, where there are enough values for one. */
export interface Figure {
  readonly value: number;
  readonly interval?: { readonly low: number; readonly high: number };
}

export interface GroupView {
  readonly name: string;
  readonly dialogues: number;
  readonly graded: number;
  /** Fraction, 0 to 1. */
  readonly success?: Figure;
  /** Agent turns of a dialogue. */
  readonly turns?: Figure;
  /** Fraction of dialogues, 0 to 1. */
  readonly leak?: Figure;
  /** Of a developer, for one reply. */
  readonly replySeconds?: Figure;
}

export const groupings = ['agent', 'pack', 'collaborator'] as const;
export type Grouping = (typeof groupings)[number];

export type Unit = 'hour' | 'day' | 'week' | 'month';

export interface ToWebview {
  readonly type: 'show';
  /** `1,204 · 41 % success (38–44 %) · 0.6 % leaked`; empty while there is nothing. */
  readonly headline: string;
  /** What the list is narrowed to; empty when it is not. */
  readonly filter: string;
  /** How long a period is. */
  readonly unit: Unit;
  /** From the oldest to the newest; `name` is the day or hour it begins. */
  readonly periods: readonly GroupView[];
  readonly groups: Readonly<Record<Grouping, readonly GroupView[]>>;
}

export type FromWebview =
  | { readonly type: 'ready' }
  /** The person wants to narrow the list, or to play a first dialogue. */
  | { readonly type: 'filter' }
  | { readonly type: 'play' };

/** What the editor keeps of the view over a reload of the window. */
export interface PanelState {
  readonly grouping: Grouping;
  readonly asTables: boolean;
}
