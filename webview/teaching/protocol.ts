import type { Table } from '../report/protocol';
import type { StepView } from '../ui/protocol';

export const sizes = ['brief', 'standard', 'thorough'] as const;

export interface SizeView {
  readonly value: (typeof sizes)[number];
  readonly label: string;
  readonly detail: string;
  readonly stages: readonly StepView[];
}

export const worlds = ['functions', 'pages', 'twenty-questions'] as const;

/** A kind of tasks. */
export interface WorldView {
  readonly value: (typeof worlds)[number];
  readonly label: string;
  readonly detail: string;
}

export interface OutcomeView {
  readonly sentence: string;
  /** Advice on how to read the result; empty when none is needed. */
  readonly remark: string;
  /** What of earlier lessons it can no longer do. */
  readonly unlearned: readonly string[];
  /** Success before and after. */
  readonly measured: Table;
}

export interface TeachingView {
  readonly type: 'show';
  readonly title: string;
  readonly introduction: string;
  readonly state: 'none' | 'working' | 'stopping' | 'stopped' | 'done';
  /** Kinds of tasks to choose from before a lesson begins, where there are several; empty afterwards. */
  readonly worlds: readonly WorldView[];
  readonly world: WorldView['value'];
  /** Sizes to choose from before a lesson begins; empty afterwards. */
  readonly sizes: readonly SizeView[];
  /** Stages of the lesson that was begun. */
  readonly stages: readonly StepView[];
  /** Reason why the lesson has stopped, or why none can begin here; empty otherwise. */
  readonly sentence: string;
  /** The lesson cannot begin or continue here. */
  readonly isRefused: boolean;
  /** The lesson has a training run that can be shown. */
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
  | { readonly type: 'choose'; readonly world: WorldView['value'] }
  | { readonly type: 'start'; readonly size: SizeView['value'] }
  | { readonly type: 'act'; readonly action: Action };
