/**
 * What the page of a lesson and the extension host say to each other. The page says `ready` and gets everything; from
 * then on the host sends the whole whenever it has changed, a few times a second at most.
 */

export interface StageView {
  readonly label: string;
  readonly detail: string;
  readonly state: 'waiting' | 'now' | 'done';
  /** 0 to 1, of the one at work, while it is known. */
  readonly fraction?: number;
  /** `412 of 1,600`; empty when there is nothing to count. */
  readonly count: string;
}

export const sizes = ['brief', 'standard', 'thorough'] as const;

/** How much a lesson may do. */
export interface SizeView {
  readonly value: (typeof sizes)[number];
  readonly label: string;
  readonly detail: string;
  readonly stages: readonly StageView[];
}

/** Success of one agent, 0 to 1, with its 95 % interval. */
export interface MeasuredView {
  readonly label: string;
  readonly success: number;
  readonly low: number;
  readonly high: number;
}

export interface OutcomeView {
  /** What came out, in one sentence. */
  readonly sentence: string;
  /** What a reader should make of it; empty when nothing has to be added. */
  readonly remark: string;
  readonly measured: readonly MeasuredView[];
}

export interface TeachingView {
  readonly type: 'show';
  readonly title: string;
  /** What is going to happen, or happens. */
  readonly introduction: string;
  readonly state: 'none' | 'working' | 'stopping' | 'stopped' | 'done';
  /** To choose from, before one is begun; empty afterwards. */
  readonly sizes: readonly SizeView[];
  /** Of the lesson that was begun. */
  readonly stages: readonly StageView[];
  /** How much is left; empty when nobody knows. */
  readonly time: string;
  /** Why it has stopped, or why nothing can be begun here; empty otherwise. */
  readonly sentence: string;
  /** It cannot be begun or gone on with here. */
  readonly isRefused: boolean;
  /** The training has a run to look at. */
  readonly hasRun: boolean;
  readonly outcome?: OutcomeView;
}

export type ToWebview = TeachingView;

export const actions = [
  'stop',
  'goOn',
  'play',
  'compare',
  'chat',
  'run',
  'report',
  'again',
  'trust',
] as const;
export type Action = (typeof actions)[number];

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'start'; readonly size: SizeView['value'] }
  | { readonly type: 'act'; readonly action: Action };
