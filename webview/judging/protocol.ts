/** Until the person is done, the host says nothing of who wrote what and of what others said. */
import type { PageView, Pin } from '../pages/protocol';
import type {
  CandidatesView,
  GradeView,
  MessageView,
  ModelNames,
  Picked,
  TaskView,
} from '../session/protocol';

export interface ReadTurn extends MessageView {
  readonly turn: number;
  readonly reply?: string;
  readonly pins?: readonly Pin[];
  /** The candidates of the turn, as far as the person has judged them. */
  readonly judged: readonly JudgedPair[];
}

export interface JudgedPair {
  readonly picked: Picked;
  /** The candidate that became the agent's message; null when two others were drawn. */
  readonly wentOn: 0 | 1 | null;
  readonly candidates: CandidatesView;
}

export interface PairView {
  readonly turn: number;
  /** Place among the pairs of the turn, from 0. */
  readonly pair: number;
  readonly candidates: CandidatesView;
}

interface OpinionOnPair {
  readonly by: string;
  readonly picked: Picked;
}

export interface Outcome {
  /** The model that played, and those that wrote candidates, have names here. */
  readonly called: ModelNames;
  readonly agent: string;
  readonly pairs: readonly {
    readonly turn: number;
    readonly agents: readonly [string, string];
    readonly own: Picked;
    readonly others: readonly OpinionOnPair[];
  }[];
  readonly stars?: number;
  readonly others: readonly { readonly by: string; readonly stars?: number; readonly comment?: string }[];
  readonly thumbs: readonly Thumb[];
  readonly grade?: GradeView;
}

export interface Thumb {
  readonly turn: number;
  readonly thumb: 'up' | 'down';
}

export interface ToWebview {
  readonly type: 'show';
  readonly episode: string;
  readonly task: TaskView;
  /** False for a developer's own function, which has neither a reference nor tests. */
  readonly hasReference: boolean;
  readonly wanted?: PageView;
  /** The dialogue up to the pair that is to be judged; the whole dialogue when none is left. */
  readonly turns: readonly ReadTurn[];
  readonly pair?: PairView;
  /** Pairs of the dialogue, and how many of them the person has judged. */
  readonly pairs: number;
  readonly judged: number;
  readonly outcome?: Outcome;
}

export const actions = ['open-reference', 'open-tests', 'open-replay', 'next'] as const;
export type Action = (typeof actions)[number];

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'open-link'; readonly address: string }
  | { readonly type: 'copy'; readonly text: string }
  /** `milliseconds`: time since both candidates were shown. */
  | {
      readonly type: 'choose';
      readonly turn: number;
      readonly pair: number;
      readonly picked: Picked;
      readonly milliseconds: number;
    }
  /** Logs the ratings, after which the person learns the rest. */
  | {
      readonly type: 'finish';
      readonly stars: number;
      readonly comment?: string;
      readonly thumbs: readonly Thumb[];
    }
  | { readonly type: 'act'; readonly action: Action };

export interface PanelState {
  readonly episode: string;
  /** The ratings that are not logged yet. */
  readonly stars?: number;
  readonly comment?: string;
  readonly thumbs?: Readonly<Record<string, 'up' | 'down'>>;
}
