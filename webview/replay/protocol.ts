/**
 * What the replay's webview and the extension host say to each other. The view says `ready` and gets what to show, then
 * what the chosen critic says of it, both again whenever the log says something new. It changes nothing of a dialogue.
 */
import type {
  Called,
  ChoiceView,
  GradeView,
  MessageView,
  ReplyView,
  Seat,
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
  /** Who was given the collaborator's seat after the agent's message. */
  readonly handOvers: readonly { readonly name: string; readonly seat: Seat }[];
}

/** A finished or unfinished dialogue as the log has it. */
export interface Replay {
  readonly episode: string;
  readonly agent: string;
  /** Who sits in the collaborator's seat at the end: `you`, a pseudonym, or the simulator. */
  readonly collaborator: string;
  readonly seat: Seat;
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
  /** A developer's own function has neither a reference nor tests. */
  readonly hasReference: boolean;
  /** The latest of each mode. */
  readonly grades: readonly GradeView[];
  readonly rating?: { readonly stars?: number; readonly comment?: string; readonly by: string };
  /** One sentence, when lines of it are missing from the log. */
  readonly damaged?: string;
}

/** What a critic says of one turn of the agent. */
export interface TurnCredit {
  /** From 1. */
  readonly turn: number;
  /** In the critic's unit: above 0 it helped, below it hurt. */
  readonly advantage: number;
  /** The control: what the base says that the critic was trained from. */
  readonly untrained: number | null;
  /** What each token adds to the text, and its log-ratio in nats; absent of a critic that says nothing of tokens. */
  readonly tokens?: { readonly texts: readonly string[]; readonly ratios: readonly number[] };
  /** Whether the person at this editor agrees; absent where nothing was said. */
  readonly agrees?: boolean;
  /** What others said, in sentences. */
  readonly others: readonly string[];
}

/** The critic that a person chose. */
export interface CriticView {
  readonly name: string;
  readonly folder: string;
  /** What its numbers are: `nats per token`. */
  readonly unit: string;
  /** Where the bars end: the largest number of the dialogues that are shown, 0 when all are 0. */
  readonly scale: number;
  /** How often people agree with it, in sentences. */
  readonly agreement: readonly string[];
}

export interface Credits {
  readonly type: 'credit';
  /** The dialogues that are shown. */
  readonly episodes: readonly string[];
  /** Absent while none was chosen. */
  readonly critic?: CriticView;
  /** Why nothing is known, in one sentence. */
  readonly problem?: string;
  /** There is a dialogue that the critic has not read. */
  readonly canScore: boolean;
  /** Why it cannot read one here, in a workspace that is not trusted. */
  readonly restriction?: string;
  /** Of each dialogue, its turns; null where the critic has not read it. */
  readonly credits: readonly (readonly TurnCredit[] | null)[];
}

export type ToWebview = Shown | Credits;

export interface Shown {
  readonly type: 'show';
  /** The pseudonym of the person at this editor, once there is one. */
  readonly own?: string;
  /** The models of the dialogues. */
  readonly called: Called;
  readonly task: TaskView;
  /** One, or two of the same task. */
  readonly replays: readonly Replay[];
}

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'open-link'; readonly address: string }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'choose-critic' }
  /** Have the chosen critic read what is shown. */
  | { readonly type: 'score' }
  | { readonly type: 'manage-trust' }
  /** Whether the person agrees with the critic; null takes it back. */
  | {
      readonly type: 'judge';
      readonly episode: string;
      readonly turn: number;
      readonly agrees: boolean | null;
    }
  /** `episode`: of which of the dialogues; the first where it makes no difference. */
  | { readonly type: 'act'; readonly action: Action; readonly episode: string };

export const actions = [
  'open-reference',
  'open-tests',
  'open-transcript',
  'open-session',
  'compare-with-reference',
  'compare-with',
  /** The answers of the two dialogues. */
  'compare-answers',
] as const;
export type Action = (typeof actions)[number];

/** What the editor keeps of the view over a reload of the window. */
export interface PanelState {
  readonly episodes: readonly string[];
}
