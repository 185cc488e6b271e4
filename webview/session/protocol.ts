/** The host holds the state; the page gets one `snapshot`, then only changes. */
import type { DraftView, PageView, Pin } from '../pages/protocol';

export type Phase =
  /** No agent is configured: the one thing to do is to choose one. */
  | 'no-agent'
  /** The task is shown, nothing is logged yet. */
  | 'ready'
  | 'agent'
  /** Two candidates for the agent's message are written; neither is shown before both are. */
  | 'candidates'
  /** Two candidates for the agent's message wait for the developer's choice. */
  | 'choosing'
  | 'developer'
  /** The person plays the agent, and asks or answers. */
  | 'asking'
  /** The simulator writes a reply, for this turn or for the rest. */
  | 'simulator'
  /** The agent or the simulator was stopped, failed, or was cut off by a reload: it can be asked again. */
  | 'stopped'
  /** The developer skipped the task: the dialogue can be resumed. */
  | 'skipped'
  | 'grading'
  /** The agent has answered; there is a grade, or a notice that says why there is none. */
  | 'over';

/** Who replies to the agent; `agent`: a simulator does, and the person at this editor is the agent. */
export type Seat = 'developer' | 'simulator' | 'agent';

export interface ReplyView {
  readonly text: string;
  /** Pseudonym, or the simulator as the settings name it. */
  readonly by: string;
  readonly seat: Seat;
  /** The simulator that drafted the reply; `isEdited`: the developer changed the draft. */
  readonly suggested?: { readonly by: string; readonly isEdited: boolean };
  /** Percentage of the reference's code tokens that the reply contains; absent when the reply is no leak. */
  readonly leakPercent?: number;
  readonly pins?: readonly Pin[];
}

export interface TurnRating {
  readonly thumb?: 'up' | 'down';
  readonly comment?: string;
}

export interface MessageView {
  /** Part that the collaborator sees, in Markdown. */
  readonly visible: string;
  readonly thoughts: string;
  /** Number of characters of message and thoughts that are too many to be drawn; the transcript has them. */
  readonly left?: number;
  readonly final: boolean;
  /** Nothing is visible because the tokens were used up before. */
  readonly isCut?: true;
  /** In tasks of pages: the page in the message, which `visible` leaves out. */
  readonly draft?: DraftView;
}

/** Candidate A (0), candidate B (1), both equally good, or neither good enough. */
export type Picked = 0 | 1 | 'equal' | 'neither';

export interface ChoiceView {
  readonly picked: Picked;
  readonly by: string;
  /** In the order in which they were shown. */
  readonly candidates: readonly [MessageView, MessageView];
  /** Agents that wrote the candidates; absent until the dialogue is over. */
  readonly agents?: readonly [string, string];
}

export interface TurnView extends MessageView {
  /** From 1. */
  readonly turn: number;
  /** Choices that led to the message; all but the last refused both candidates. */
  readonly choices?: readonly ChoiceView[];
  /** Number of samples of the message; this is the last one. */
  readonly samples: number;
  /** Time that the message and the reply took, as far as it is known. */
  readonly milliseconds: number;
  readonly rating?: TurnRating;
  readonly reply?: ReplyView;
}

export interface StreamView {
  readonly by: 'agent' | 'simulator';
  /** Visible part so far; empty while only thoughts have arrived. */
  readonly text: string;
  readonly thinking: number;
  /** The end of the thoughts, while nothing else has arrived. */
  readonly thoughts?: string;
  /** The message was never finished, and is no part of the dialogue: the person stopped it, or its model failed. */
  readonly ended?: 'stopped' | 'failed';
  /** The last attempt failed, and nothing has arrived of this one; the text is that of an earlier one. */
  readonly retrying?: {
    readonly number: number;
    readonly of: number;
    readonly why: 'connection' | 'busy' | 'server';
  };
  /** Number of characters that are too many to be drawn. */
  readonly left?: number;
  /** Number of characters of the page so far, which is drawn when it is whole. */
  readonly page?: number;
}

export type CandidatesView = readonly [MessageView, MessageView];

export interface Suggestion {
  readonly text: string;
  readonly by: string;
}

/** Maximum number of places of one reply, as the log has it. */
export const MAX_PINS = 50;

export interface Draft {
  readonly text: string;
  /** The simulator's original draft, and the text that it replaced; absent when the developer wrote the reply alone. */
  readonly suggestion?: Suggestion & { readonly replaced: string };
  /** Places on the pages; the text names each by its number, `[1]`. */
  readonly pins?: readonly Pin[];
  /** Of a person who plays the agent: the text is the answer, and no question. */
  readonly isAnswer?: true;
}

/** Puts a suggestion in place of the text, which comes back when the suggestion is discarded. */
export function suggested(draft: Draft, suggestion: Suggestion): Draft {
  const replaced = draft.suggestion?.replaced ?? draft.text;
  return { ...draft, text: suggestion.text, suggestion: { ...suggestion, replaced } };
}

/** Reason why a reply was not sent: it gives away this much of the reference, in these passages. */
export interface LeakWarning {
  readonly percent: number;
  readonly passages: readonly string[];
}

/** Rating of the whole dialogue: 1 to 5 stars, and one line. */
export interface DialogueRating {
  readonly stars?: number;
  readonly comment?: string;
}

const noticeActions = [
  'choose-agent',
  'choose-simulator',
  'set-key',
  'edit-agent-connection',
  'edit-simulator-connection',
  'grade',
  'manage-trust',
  /** Opens the output channel, which has all that is known about the error. */
  'show-log',
] as const;
export type NoticeAction = (typeof noticeActions)[number];

export interface Notice {
  readonly kind: 'information' | 'warning' | 'error';
  readonly message: string;
  readonly actions: readonly NoticeAction[];
}

export interface TestView {
  readonly call: string;
  readonly status: 'passed' | 'wrong' | 'error' | 'timed-out' | 'not-gradable';
  readonly expected?: string;
  /** Result of the answer: a value, an error, or the reason why there is neither. */
  readonly got?: string;
  readonly milliseconds?: number;
}

/** Result of the tests; absent when the answer could not be graded here. */
export type Verdict = 'passed' | 'partial' | 'failed';

/** A sentence on what the dialogue missed, and the call of a test that shows it. */
export interface DebriefLine {
  readonly text: string;
  readonly call?: string;
}

export interface GradeView {
  /** Result in words: `8 of 10 tests passed`, or that the answer could not be graded here. */
  readonly headline: string;
  readonly verdict?: Verdict;
  readonly mode: string;
  /** Absent when there is nothing certain to say. */
  readonly debrief?: readonly DebriefLine[];
  readonly tests: readonly TestView[];
  readonly page?: PageGradeView;
}

/** Scores are 0 to 1. */
export interface PageGradeView {
  /** What the score measures, in words: `structure, version 1`. */
  readonly measure: string;
  /** Names and scores of what the score is made of. */
  readonly parts: readonly (readonly [string, number])[];
  /** Of each message that had a page. */
  readonly drafts: readonly { readonly turn: number; readonly score: number }[];
  /** Absent for checks, which are decided without drawing. */
  readonly renderer?: string;
}

/** Levels of consent: what may be done with what the developer writes. */
export const levels = ['local', 'export', 'export-with-edits'] as const;
export type Level = (typeof levels)[number];

/** Labels of the levels, the same in the form and in the command that changes the level. @param t translates them */
export const levelWords = (
  t: (sentence: string) => string,
): Readonly<Record<Level, { readonly label: string; readonly detail: string }>> => ({
  local: {
    label: t('Keep on this machine only'),
    detail: t('Never exported. Training on this machine may use it.'),
  },
  export: {
    label: t('May be exported'),
    detail: t('Your replies and ratings, under the pseudonym.'),
  },
  'export-with-edits': {
    label: t('May be exported with edits and timing'),
    detail: t('Also your edits, truncated text and how long each reply took.'),
  },
});

/** Answers of the consent form; the first human turn is logged only after they were given. */
export interface ConsentRequest {
  readonly pseudonym: string;
  readonly purpose: string;
  readonly level: Level;
}

/** Initial answers of the consent form, and the folder that the form names. */
export interface ConsentForm extends ConsentRequest {
  readonly folder: string;
}

/** Names that the person gave to models, by their names in the settings and the log; other models are absent. */
export type ModelNames = Readonly<Record<string, string>>;

export type AnswerDecision = 'accepted' | 'rejected';

/** Everything but the turns; small enough to be sent whole on each change. */
export interface SessionState {
  readonly phase: Phase;
  readonly seat: Seat;
  /** The turn that is being played, from 1. */
  readonly turn: number;
  readonly maxTurns: number;
  readonly replyLimit: number;
  /** The pseudonym of the person at this editor, once there is one. */
  readonly own?: string;
  /** The agent, as the settings name it; empty when none is chosen. */
  readonly agent: string;
  readonly secondAgent?: string;
  readonly simulator: string;
  readonly called: ModelNames;
  readonly notice?: Notice;
  readonly consent?: ConsentForm;
  readonly grade?: GradeView;
  readonly isSuggesting?: boolean;
  /** The hidden information is in the developer's head, so that no simulator can reply. */
  readonly onlyDeveloperKnows?: boolean;
  /** Decision on the answer for an own function; absent before it, once it is undone, and in other tasks. */
  readonly decision?: AnswerDecision;
  /** Name of the file with the developer's own function; absent when the editor no longer knows it. */
  readonly ownFile?: string;
  /** No simulator can reply: none is chosen, or the rules know nothing about this task. A model could. */
  readonly needsSimulator?: boolean;
  /** The agent has a message that can be taken as its answer now. */
  readonly canEnd?: boolean;
  readonly showsCounters: boolean;
  /** Reason why nothing is played in this workspace, until the person trusts it. */
  readonly restriction?: string;
  /** Absent while there is no pseudonym under which a rating could be logged. */
  readonly rating?: DialogueRating;
  /** The pack has another task that was not played to its end. */
  readonly hasNext: boolean;
  readonly hasGuidelines: boolean;
  /** The pack of the task is here, so that the task can be played again. */
  readonly canReplay?: boolean;
}

/** An element or a text of a page as the editor's frame laid it out (`src/core/page/outline.ts`). */
export interface LaidOutNode {
  readonly tag: string;
  readonly parent: number;
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  readonly text?: string;
  readonly display: string;
  readonly color: string;
  readonly backgroundColor: string;
  readonly fontSize: string;
  readonly fontWeight: string;
  readonly opacity: string;
  readonly visibility: string;
  readonly paintOrder: number;
}

export interface TaskView {
  readonly title: string;
  /** The request as the agent sees it, Markdown. */
  readonly description: string;
  readonly pack: string;
  readonly tests: number;
  readonly isPage?: true;
  readonly wanted?: PageView;
}

/** A developer's own function in a file of this machine. */
export interface OwnFunction {
  /** URI of the file, as a string. */
  readonly file: string;
  readonly name: string;
  /** Line of its `def` when the dialogue was asked for, counted from 0. */
  readonly near: number;
}

/** State of the page that the editor keeps when the window is reloaded: the dialogue. The log has the rest. */
export interface PanelState {
  readonly episode?: string;
  /** Path of the pack and id of the task, before the dialogue has begun. */
  readonly source?: { readonly pack: string; readonly task: string; readonly asAgent?: boolean };
  readonly own?: { readonly place: OwnFunction; readonly description: string };
}

/** A dialogue as a whole. */
export interface SessionView {
  readonly panel: PanelState;
  readonly task: TaskView;
  readonly state: SessionState;
  readonly turns: readonly TurnView[];
  readonly stream?: StreamView | undefined;
  readonly candidates?: CandidatesView | undefined;
}

export type ToWebview =
  /** Acknowledges each message of the page, so that it can tell a host that is gone from one that works. */
  | { readonly type: 'heard' }
  | (SessionView & {
      readonly type: 'snapshot';
      readonly draft: Draft;
      /** The draft was not sent, and the person has not said yet what to do with it. */
      readonly warning?: LeakWarning;
    })
  | { readonly type: 'state'; readonly state: SessionState }
  /** The dialogue has begun and has an identity in the log. */
  | { readonly type: 'panel'; readonly panel: PanelState }
  | { readonly type: 'turn'; readonly turn: TurnView }
  /** `stream` is absent when nothing is being written any more. */
  | { readonly type: 'stream'; readonly stream?: StreamView }
  /** `candidates` is absent when there is nothing to choose any more. */
  | { readonly type: 'candidates'; readonly candidates?: CandidatesView }
  /** Brings the developer's replies in other dialogues, oldest first. */
  | { readonly type: 'earlier'; readonly replies: readonly string[] }
  | { readonly type: 'suggestion'; readonly suggestion: Suggestion }
  | ({ readonly type: 'leak-warning' } & LeakWarning)
  /** Asks for the layout of a cleaned page, where the machine has no browser. */
  | { readonly type: 'lay-out'; readonly id: number; readonly html: string }
  /** Answers a reply that is not in the log, for any reason; a notice says which. */
  | { readonly type: 'not-sent' };

export interface TurnRatingChange {
  readonly thumb?: 'up' | 'down' | 'none';
  readonly comment?: string;
}

export type FromWebview =
  | { readonly type: 'ready' }
  /** Begins the dialogue, or takes the seat, once the consent is given. */
  | { readonly type: 'start'; readonly consent?: ConsentRequest }
  /** `anyway`: the reply is sent even when it gives the reference away. */
  | { readonly type: 'reply'; readonly draft: Draft; readonly anyway: boolean }
  /** Keeps the reply after every key, because a hidden page is gone at once. The draft is empty once it was sent. */
  | { readonly type: 'draft'; readonly draft: Draft }
  | { readonly type: 'choose'; readonly picked: Picked }
  /** An empty comment removes the comment. */
  | { readonly type: 'rate'; readonly change: DialogueRating }
  | { readonly type: 'rate-turn'; readonly turn: number; readonly change: TurnRatingChange }
  /** Continues the dialogue otherwise, in a dialogue of its own. */
  | { readonly type: 'fork'; readonly turn: number; readonly by: 'message' | 'reply' }
  | { readonly type: 'open-link'; readonly address: string }
  | { readonly type: 'copy'; readonly text: string }
  | {
      readonly type: 'laid-out';
      readonly id: number;
      readonly browser: string;
      readonly nodes: readonly LaidOutNode[];
    }
  | { readonly type: 'act'; readonly action: Action };

export const actions = [
  'stop',
  'simulator-once',
  'simulator-on',
  'take-seat',
  'suggest',
  'dont-mind',
  'another-sample',
  'end-now',
  'skip',
  'again',
  'open-guidelines',
  'open-reference',
  'open-tests',
  'open-transcript',
  'compare',
  'next-task',
  'play-again',
  'teach',
  ...noticeActions,
] as const;
export type Action = (typeof actions)[number];
