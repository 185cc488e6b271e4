import type { SaveMessage } from '../saving/protocol';
import type { Figure } from '../statistics/protocol';

/**
 * Messages between the page of people's agreement and the extension host. The page sends `ready` and gets everything,
 * and again whenever the log or the filter has changed.
 */

/** A figure and the number of judgements that it is over. */
export type Judged = Figure & { readonly of: number };

export interface PersonView {
  readonly name: string;
  /** Dialogues that the person played, and the tasks of those that are graded. */
  readonly dialogues: number;
  readonly tasks: number;
  /** Rates, 0 to 1. */
  readonly success?: Figure;
  readonly leak?: Figure;
  /** Mean, 1 to 5. */
  readonly stars?: Judged;
  /** Share of thumbs up, 0 to 1. */
  readonly thumbs?: Judged;
  /** Share of choices that fell on the candidate shown first, of those that fell on one. */
  readonly first?: Judged;
  /** Share of choices that fell on neither or both. */
  readonly undecided?: Judged;
}

/** `unsettled`: the interval is too wide to say. */
export type Reliance = 'good' | 'fair' | 'poor' | 'unsettled';

export const judgements = ['stars', 'thumbs', 'choices'] as const;
export type Judgement = (typeof judgements)[number];

/** Krippendorff's alpha of one kind of judgement. */
export interface AlphaView {
  /** Absent where it is not known. */
  readonly alpha?: number;
  readonly interval?: { readonly low: number; readonly high: number };
  /** What at least two people judged: dialogues, turns, pairs of candidates. */
  readonly units: number;
  /** How far one may rely on what was judged; absent without an interval. */
  readonly reliance?: Reliance;
}

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

/** How often a measure of web pages prefers the candidate that a person chose. */
export interface MeasureView {
  /** Name, version and what draws the pages. */
  readonly name: string;
  /** Absent without a choice. */
  readonly rate?: Judged;
  /** Choices between two pages of one score, left out of the rate. */
  readonly ties: number;
}

export interface MeasuresView {
  readonly measures: readonly MeasureView[];
  /** Choices of equal or neither. */
  readonly undecided: number;
  /** Choices where a candidate shows no page. */
  readonly withoutPage: number;
}

export interface ToWebview {
  readonly type: 'show';
  /** The filter of the list of dialogues, in words; empty when there is none. */
  readonly filter: string;
  readonly people: readonly PersonView[];
  /** Tasks that each person who played has a graded dialogue of: only on them their success compares. */
  readonly shared: number;
  readonly alpha: Readonly<Record<Judgement, AlphaView>>;
  /** The furthest apart first; `left` more are not shown. */
  readonly disagreements: readonly DisagreementView[];
  readonly left: number;
  /** Absent without choices between pages, and until these are drawn; a sentence where they cannot be drawn. */
  readonly measures?: MeasuresView | string;
}

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'filter' }
  | { readonly type: 'open'; readonly episode: string }
  | SaveMessage;

export interface PanelState {
  /** The kind of disagreements that are shown; absent: all. */
  readonly kind?: Judgement;
}
