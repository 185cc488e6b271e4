import type { PageView } from '../pages/protocol';
import type {
  ModelNames,
  ChoiceView,
  GradeView,
  MessageView,
  Picked,
  ReplyView,
  Seat,
  TaskView,
  TurnRating,
  TurnView,
  Verdict,
} from '../session/protocol';

export interface ReplayedReply extends ReplyView {
  /** Author, what it was shown of the pages, and duration: `developer · 42 s`. */
  readonly origin: string;
  readonly suggestion?: string;
  /** The whole text, when the reply limit cut off a part. */
  readonly fullText?: string;
}

export interface ReplayedChoice extends ChoiceView {
  /** Time that the choice took: `After 12 s.` */
  readonly took?: string;
  /** Others judged the same candidates so later; `by` is `you` or a pseudonym. */
  readonly judgements: readonly { readonly by: string; readonly picked: Picked }[];
}

export interface ReplayedTurn extends Omit<TurnView, 'rating'> {
  readonly choices?: readonly ReplayedChoice[];
  /** Samples of the message that this one replaced, oldest first. */
  readonly earlier: readonly MessageView[];
  /** Thoughts, tool calls and results of a session that another program recorded, each with its name. */
  readonly did?: readonly { readonly name: string; readonly text: string }[];
  /** Measured credit of a turn with a page, in words: the gain of its draft, beside a critic's credit. */
  readonly gain?: string;
  /** One of each person, in the order in which they were given. */
  readonly ratings: readonly (TurnRating & { readonly by: string })[];
  readonly reply?: ReplayedReply;
  /** Hand-overs of the collaborator's seat after the agent's message; `name` and `seat` are the new ones. */
  readonly handOvers: readonly { readonly name: string; readonly seat: Seat }[];
}

export interface Replay {
  readonly episode: string;
  readonly agent: string;
  /** Name in the collaborator's seat at the end: a pseudonym, or the simulator as the settings name it. */
  readonly collaborator: string;
  readonly seat: Seat;
  /** Outcome in words: `8/10 tests`, `skipped`. */
  readonly outcome: string;
  readonly verdict?: Verdict;
  /** Names and values of what is seldom asked for: seed, temperature, prompts, ids. */
  readonly details: readonly (readonly [string, string])[];
  readonly turns: readonly ReplayedTurn[];
  /** Choices after the last turn; each of them refused both candidates. */
  readonly refused: readonly ReplayedChoice[];
  readonly ending: string;
  readonly hasAnswer: boolean;
  /** Why there is neither a reference nor tests to see; absent where there are. */
  readonly withoutReference?: string;
  /** False for a session that another program recorded. */
  readonly canContinue: boolean;
  /** Latest grade of each mode. */
  readonly grades: readonly GradeView[];
  /** One of each person, in the order in which they were given. */
  readonly ratings: readonly { readonly stars?: number; readonly comment?: string; readonly by: string }[];
  readonly label?: LabelView;
  /** The parent of a fork and the forks of the dialogue: in words, such as `fork of turn 3`, and its id. */
  readonly related?: readonly { readonly words: string; readonly episode: string }[];
  /** False while the dialogue may go on. */
  readonly canReview: boolean;
  readonly review?: ReviewView;
  /** Says that lines of the dialogue are missing from the log; absent when none are. */
  readonly damaged?: string;
}

/** People gave a dialogue this title, these tags and these notes. */
export interface LabelView {
  readonly title?: string;
  /** Tags of all people: `#odd`. */
  readonly tags: readonly string[];
  /** `by` is `you` or a pseudonym. */
  readonly notes: readonly { readonly by: string; readonly text: string }[];
}

export interface ReviewView {
  readonly state: 'accepted' | 'redo';
  readonly reason?: string;
  /** `you` or a pseudonym. */
  readonly by: string;
}

export interface TurnCredit {
  /** From 1. */
  readonly turn: number;
  /** Advantage in the critic's unit: above 0 the turn helped, below 0 it hurt. */
  readonly advantage: number;
  /** Untrained baseline: the advantage according to the critic's base model; null when unknown. */
  readonly untrained: number | null;
  /** Text and log-ratio in nats of each token; absent when the critic does not score tokens. */
  readonly tokens?: { readonly texts: readonly string[]; readonly ratios: readonly number[] };
  /** Verdict of the person at this editor; absent when there is none. */
  readonly agrees?: boolean;
  readonly others: readonly string[];
}

export interface CriticView {
  readonly name: string;
  /** Empty for credit without a critic. */
  readonly folder: string;
  /** False where a model answers or plays on, which has no untrained baseline. */
  readonly isCritic: boolean;
  /** Unit of its numbers: `nats/token`. */
  readonly unit: string;
  /** Value at the ends of the bars: the largest absolute number in the shown dialogues; 0 when all are 0. */
  readonly scale: number;
  /** Says how often people agree with the critic, in sentences. */
  readonly agreement: readonly string[];
}

export interface Credits {
  readonly type: 'credit';
  readonly episodes: readonly string[];
  readonly critic?: CriticView;
  readonly problem?: string;
  /** True when the critic has not read one of the dialogues. */
  readonly canScore: boolean;
  /** Reason why the critic cannot read one here: the workspace is not trusted. */
  readonly restriction?: string;
  /** Credit of each dialogue, turn by turn; null when the critic has not read it. */
  readonly credits: readonly (readonly TurnCredit[] | null)[];
}

export type ToWebview = Shown | Credits | Found;

/** Message, reply or note that a search has found in the one dialogue that is shown. */
export interface Found {
  readonly type: 'found';
  /** From 1; 0 for a note. */
  readonly turn: number;
  readonly by: 'agent' | 'collaborator' | 'note';
  /** In lower case. */
  readonly words: readonly string[];
}

export interface Shown {
  readonly type: 'show';
  /** The pseudonym of the person at this editor, once there is one. */
  readonly own?: string;
  readonly called: ModelNames;
  readonly task: TaskView;
  readonly wanted?: PageView;
  /** One dialogue, or two of the same task. */
  readonly replays: readonly Replay[];
}

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'open-link'; readonly address: string }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'choose-critic' }
  | { readonly type: 'score' }
  | { readonly type: 'manage-trust' }
  /** Gives the person's verdict on the credit of a turn; null takes it back. */
  | {
      readonly type: 'judge';
      readonly episode: string;
      readonly turn: number;
      readonly agrees: boolean | null;
    }
  /** Continues the dialogue otherwise, in a dialogue of its own. */
  | {
      readonly type: 'fork';
      readonly episode: string;
      readonly turn: number;
      readonly by: 'message' | 'reply';
    }
  /** Shows a fork and its parent side by side. */
  | { readonly type: 'compare'; readonly episodes: readonly [string, string] }
  /** `episode`: the dialogue that the action is about; the first one when it makes no difference. */
  | { readonly type: 'act'; readonly action: Action; readonly episode: string };

export const actions = [
  'open-reference',
  'open-tests',
  'open-transcript',
  'open-session',
  'compare-with-reference',
  'compare-with',
  'compare-answers',
  'next-failure',
  'previous-failure',
  'next-unreviewed',
  'accept',
  'redo',
  'take-review-back',
  'rename',
  'tag',
  'note',
] as const;
export type Action = (typeof actions)[number];

export interface PanelState {
  readonly episodes: readonly string[];
}
