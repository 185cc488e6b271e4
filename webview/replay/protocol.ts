/**
 * What the replay's webview and the extension host say to each other. The view says `ready` and gets what to show, again
 * whenever the log says something new of it. It changes nothing.
 */
import type {
  ChoiceView,
  GradeView,
  MessageView,
  ReplyView,
  TaskView,
  TurnRating,
  TurnView,
} from '../session/protocol';

export interface ReplayedReply extends ReplyView {
  /** Who wrote it and how: `written by a developer in 42 s`. */
  readonly origin: string;
  /** What had been drafted, when a developer edited it. */
  readonly suggestion?: string;
  /** All that was written, when the reply limit cut something off. */
  readonly fullText?: string;
}

export interface ReplayedChoice extends ChoiceView {
  /** `After 12 s.` */
  readonly took?: string;
}

export interface ReplayedTurn extends TurnView {
  readonly choices?: readonly ReplayedChoice[];
  /** The samples of the message that this one took the place of, the first one first. */
  readonly earlier: readonly MessageView[];
  readonly rating?: TurnRating & { readonly by: string };
  readonly reply?: ReplayedReply;
  /** Who was given the collaborator's seat after the agent's message, in sentences. */
  readonly handOvers: readonly string[];
}

/** A finished or unfinished dialogue as the log has it. */
export interface Replay {
  readonly episode: string;
  readonly agent: string;
  readonly collaborator: string;
  /** `8/10 tests`, `skipped`. */
  readonly outcome: string;
  /** Null: nothing says success or not. */
  readonly success: boolean | null;
  readonly started: string;
  readonly turns: readonly ReplayedTurn[];
  /** The choices after the last turn; each of neither. */
  readonly refused: readonly ReplayedChoice[];
  /** How it ended, or that it has not, in one sentence. */
  readonly ending: string;
  readonly hasAnswer: boolean;
  /** The latest of each mode. */
  readonly grades: readonly GradeView[];
  readonly rating?: { readonly stars?: number; readonly comment?: string; readonly by: string };
  /** One sentence, when lines of it are missing from the log. */
  readonly damaged?: string;
}

export interface ToWebview {
  readonly type: 'show';
  /** The pseudonym of the person at this editor, once there is one. */
  readonly own?: string;
  readonly task: TaskView;
  /** One, or two of the same task. */
  readonly replays: readonly Replay[];
}

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'open-link'; readonly address: string }
  | { readonly type: 'copy'; readonly text: string }
  /** `episode`: of which of the dialogues; the first where it makes no difference. */
  | { readonly type: 'act'; readonly action: Action; readonly episode: string };

export type Action =
  | 'open-reference'
  | 'open-tests'
  | 'open-transcript'
  | 'open-session'
  | 'compare-with-reference'
  | 'compare-with'
  /** The answers of the two dialogues. */
  | 'compare-answers';

/** What the editor keeps of the view over a reload of the window. */
export interface PanelState {
  readonly episodes: readonly string[];
}
