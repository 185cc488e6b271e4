/**
 * What the session's webview and the extension host say to each other. The host holds the truth; the view says `ready`
 * and gets one `snapshot`, then only what changes. Nothing else is shared between the two.
 */

/** What the session is doing, which decides what the person can do next. */
export type Phase =
  /** No agent is configured: the one thing to do is to choose one. */
  | 'no-agent'
  /** The task is shown, nothing is logged yet. */
  | 'ready'
  /** The agent writes its message. */
  | 'agent'
  /** Two candidates for the agent's message are written; neither is shown before both are. */
  | 'candidates'
  /** Two candidates for the agent's message wait for the developer's choice. */
  | 'choosing'
  /** The developer's reply is awaited. */
  | 'developer'
  /** The simulator writes a reply, for this turn or for the rest. */
  | 'simulator'
  /** The agent or the simulator was stopped, failed, or was cut off by a reload: it can be asked again. */
  | 'stopped'
  /** The developer skipped the task: the dialogue can be resumed. */
  | 'skipped'
  | 'grading'
  /** The agent has answered; there is a grade, or a notice that says why there is none. */
  | 'over';

/** Who answers the agent from now on. */
export type Seat = 'developer' | 'simulator';

export interface ReplyView {
  readonly text: string;
  /** Shown before the reply: `you`, or the simulator's name. */
  readonly by: string;
  readonly seat: Seat;
  /** The simulator that drafted it for the developer, and whether the developer changed the draft. */
  readonly suggested?: { readonly by: string; readonly isEdited: boolean };
  /** Set when the reply gives away much of the reference: percent of its code tokens. */
  readonly leakPercent?: number;
}

/** What a person thinks of one message of the agent. */
export interface TurnRating {
  readonly thumb?: 'up' | 'down';
  readonly comment?: string;
}

/** A message of the agent. */
export interface MessageView {
  /** What the collaborator sees of it, Markdown. */
  readonly visible: string;
  readonly thoughts: string;
  /** Characters of message and thoughts that are too many to be drawn; the transcript has them. */
  readonly left?: number;
  /** The message holds the final answer. */
  readonly final: boolean;
}

/** Candidate A, candidate B, as good as each other, or neither good enough. */
export type Picked = 0 | 1 | 'equal' | 'neither';

/** A choice between two candidates that was made. */
export interface ChoiceView {
  readonly picked: Picked;
  /** The pseudonym of who chose. */
  readonly by: string;
  /** In the order in which they were shown. */
  readonly candidates: readonly [MessageView, MessageView];
  /** Who wrote them. Absent until the dialogue is over. */
  readonly agents?: readonly [string, string];
}

export interface TurnView extends MessageView {
  /** From 1. */
  readonly turn: number;
  /** The choices that led to the message; each but the last was of neither. */
  readonly choices?: readonly ChoiceView[];
  /** How many samples of the message there are; this is the last one. */
  readonly samples: number;
  /** How long the message and the reply took, as far as it is known. */
  readonly milliseconds: number;
  readonly rating?: TurnRating;
  readonly reply?: ReplyView;
}

/** A message while it is being written. */
export interface StreamView {
  readonly by: 'agent' | 'simulator';
  /** The visible part so far; empty while only thoughts have come. */
  readonly text: string;
  /** Characters of thoughts so far. */
  readonly thinking: number;
  /** Characters that are too many to be drawn. */
  readonly left?: number;
}

/** Two candidates for the agent's next message, of which the developer is to choose one. */
export type CandidatesView = readonly [MessageView, MessageView];

/** A reply that the simulator drafted for the developer. */
export interface Suggestion {
  readonly text: string;
  /** The simulator. */
  readonly by: string;
}

/** A reply that was begun and not sent. */
export interface Draft {
  readonly text: string;
  /** What it began as, and what it took the place of, when the simulator drafted it. */
  readonly suggestion?: Suggestion & { readonly replaced: string };
}

/** The draft in which a suggestion takes the place of what was written, which comes back when it is discarded. */
export function suggested(draft: Draft, suggestion: Suggestion): Draft {
  const replaced = draft.suggestion?.replaced ?? draft.text;
  return { text: suggestion.text, suggestion: { ...suggestion, replaced } };
}

/** Why a reply was not sent: it gives so much of the reference away, in these passages. */
export interface LeakWarning {
  /** Of the reference's code tokens. */
  readonly percent: number;
  readonly passages: readonly string[];
}

/** Stars from 1 to 5, and a line, for the whole dialogue. */
export interface DialogueRating {
  readonly stars?: number;
  readonly comment?: string;
}

/** A button that a notice offers. */
export const noticeActions = [
  'choose-agent',
  'choose-simulator',
  'set-key',
  'grade',
  'manage-trust',
  /** The output channel, which has all that is known of what went wrong. */
  'show-log',
] as const;
export type NoticeAction = (typeof noticeActions)[number];

export interface Notice {
  readonly kind: 'information' | 'warning' | 'error';
  /** One clear sentence: what happened and what to do. */
  readonly message: string;
  readonly actions: readonly NoticeAction[];
}

export interface TestView {
  readonly call: string;
  readonly status: 'passed' | 'wrong' | 'error' | 'timed-out' | 'not-gradable';
  readonly expected?: string;
  /** What the answer gave: a value, an error, or why there is none. */
  readonly got?: string;
  readonly milliseconds?: number;
}

export interface GradeView {
  /** `8 of 10 tests passed`, or that the answer could not be graded here. */
  readonly headline: string;
  /** Null: not gradable here. */
  readonly success: boolean | null;
  readonly mode: string;
  readonly tests: readonly TestView[];
}

/** How far what the developer writes may go. */
export const levels = ['local', 'export', 'export-with-edits'] as const;
export type Level = (typeof levels)[number];

/** The words are those of the form and of the command that changes it. @param t of the one of the two that asks */
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

/** The first human turn is logged only after this was answered. */
export interface ConsentRequest {
  readonly pseudonym: string;
  readonly purpose: string;
  readonly level: Level;
}

/** What the form begins with, and where that which is agreed to is kept. */
export interface ConsentForm extends ConsentRequest {
  /** The data folder. */
  readonly folder: string;
}

/** What a person calls models, by their names in the settings and the log, where that is something else. */
export type Called = Readonly<Record<string, string>>;

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
  /** As in the settings. */
  readonly agent: string;
  /** The agent that writes the other one of two candidates, when it is another. */
  readonly secondAgent?: string;
  readonly simulator: string;
  /** The models of the settings, of the turns and of the draft. */
  readonly called: Called;
  readonly notice?: Notice;
  readonly consent?: ConsentForm;
  readonly grade?: GradeView;
  /** The simulator drafts a reply for the developer. */
  readonly isSuggesting?: boolean;
  /** What is hidden is in the developer's head, so that no simulator can reply. */
  readonly onlyDeveloperKnows?: boolean;
  /** What the developer did with the answer for a function of their own; absent before, and in other tasks. */
  readonly decision?: AnswerDecision;
  /** No simulator can reply: none is chosen, or the rules know nothing about this task. A model could. */
  readonly needsSimulator?: boolean;
  /** There is a message of the agent that can be taken as its answer now. */
  readonly canEnd?: boolean;
  /** Turns and time are counted before the person's eyes. */
  readonly showsCounters: boolean;
  /** Why nothing is played in this workspace, which can be changed by trusting it. */
  readonly restriction?: string;
  /** Absent while there is nobody under whose pseudonym a rating could be logged. */
  readonly rating?: DialogueRating;
  /** There is another task in the pack that was not played yet, or not to its end. */
  readonly hasNext: boolean;
  /** Its author has written what is asked of whoever plays it. */
  readonly hasGuidelines: boolean;
  /** The pack of the task is here, so that it can be played once more. */
  readonly canReplay?: boolean;
}

export interface TaskView {
  readonly title: string;
  /** The request as the agent sees it, Markdown. */
  readonly description: string;
  readonly pack: string;
  readonly tests: number;
}

/** What the editor keeps of the view over a reload of the window: which dialogue it is. The log knows the rest. */
export interface PanelState {
  readonly episode?: string;
  /** Where the task is when the dialogue has not begun: the pack's path and the task's id. */
  readonly source?: { readonly pack: string; readonly task: string };
}

export type ToWebview =
  /** Acknowledges every message of the view, so that it can tell a host that is gone from one that works. */
  | { readonly type: 'heard' }
  | {
      readonly type: 'snapshot';
      readonly panel: PanelState;
      readonly task: TaskView;
      readonly state: SessionState;
      readonly turns: readonly TurnView[];
      readonly stream?: StreamView;
      readonly candidates?: CandidatesView;
      readonly draft: Draft;
      /** The draft was not sent, and the person has not said yet what to do with it. */
      readonly warning?: LeakWarning;
    }
  | { readonly type: 'state'; readonly state: SessionState }
  /** The dialogue has begun and has an identity in the log. */
  | { readonly type: 'panel'; readonly panel: PanelState }
  /** A turn that is new or has changed. */
  | { readonly type: 'turn'; readonly turn: TurnView }
  /** Absent: nothing is being written any more. */
  | { readonly type: 'stream'; readonly stream?: StreamView }
  /** Absent: there is nothing to choose any more. */
  | { readonly type: 'candidates'; readonly candidates?: CandidatesView }
  /** What the developer has said in other dialogues, from the oldest to the newest. */
  | { readonly type: 'earlier'; readonly replies: readonly string[] }
  | { readonly type: 'suggestion'; readonly suggestion: Suggestion }
  /** The answer to a reply that gives too much away. */
  | ({ readonly type: 'leak-warning' } & LeakWarning)
  /** The answer to a reply that is not in the log, for whatever reason; a notice says which. */
  | { readonly type: 'not-sent' };

/** What of a rating changes; an empty comment takes it back. */
export interface DialogueRatingChange {
  readonly stars?: number;
  readonly comment?: string;
}

export interface TurnRatingChange {
  readonly thumb?: 'up' | 'down' | 'none';
  readonly comment?: string;
}

export type FromWebview =
  | { readonly type: 'ready' }
  /** Begins the dialogue, or takes the seat, once the consent is given. */
  | { readonly type: 'start'; readonly consent?: ConsentRequest }
  /** `anyway`: also when it gives the reference away. */
  | { readonly type: 'reply'; readonly draft: Draft; readonly anyway: boolean }
  /** The reply so far, after every key: a view that is hidden is gone at once. Empty once it was sent. */
  | { readonly type: 'draft'; readonly draft: Draft }
  | { readonly type: 'choose'; readonly picked: Picked }
  | { readonly type: 'rate'; readonly change: DialogueRatingChange }
  | { readonly type: 'rate-turn'; readonly turn: number; readonly change: TurnRatingChange }
  | { readonly type: 'open-link'; readonly address: string }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'act'; readonly action: Action };

/** What the person can do with one press. */
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
