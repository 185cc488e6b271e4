/** A person's seat in a browser: what `tandem serve --play` shows, and what its page asks for. */
import type { ConsentForm, ConsentRequest, GradeView, LeakWarning, TurnView } from '../session/protocol';

type Phase =
  /** No pseudonym, or one that has not agreed to be logged here. */
  | 'consent'
  /** The task is shown, nothing of the dialogue is logged yet. */
  | 'ready'
  | 'agent'
  | 'developer'
  /** The agent has failed, and can be asked again. */
  | 'stopped'
  | 'grading'
  /** There is a grade, or a notice that says why there is none. */
  | 'over'
  /** No task is left for this person. */
  | 'done';

export interface SeatTask {
  readonly id: string;
  readonly title: string;
  /** The request as the agent sees it, Markdown. */
  readonly description: string;
  readonly reference: string;
  /** Calls of the hidden tests. */
  readonly tests: readonly string[];
}

export interface SeatView {
  /** Grows with each change; of this run of the server. */
  readonly version: number;
  readonly phase: Phase;
  /** A model, or the pseudonym of the person who plays the agent. */
  readonly agent: string;
  /** A person plays the agent, and none is there now. */
  readonly isAgentAway?: boolean;
  readonly consent?: ConsentForm;
  /** Some of the tasks are dealt to pseudonyms. */
  readonly isAssigned?: boolean;
  readonly own?: string;
  readonly task?: SeatTask;
  readonly turns: readonly TurnView[];
  /** The turn that is being played, from 1. */
  readonly turn: number;
  readonly maxTurns: number;
  readonly replyLimit: number;
  readonly grade?: GradeView;
  readonly notice?: string;
  /** Tasks of this person that are played to their end, and all of them. */
  readonly progress?: { readonly done: number; readonly of: number };
}

/** Body of `POST /seat/view`: answered when the view is another than the one after which the page asks, or after a while. */
export interface ViewRequest {
  readonly pseudonym?: string;
  readonly after?: number;
}

/** Body of `POST /seat/act`. */
export type SeatAction =
  | { readonly type: 'consent'; readonly consent: ConsentRequest }
  | { readonly type: 'start' | 'again' | 'next'; readonly pseudonym: string }
  | {
      readonly type: 'reply';
      readonly pseudonym: string;
      /** Task and turn that the page showed: another tab may have gone on. */
      readonly task: string;
      readonly turn: number;
      readonly text: string;
      /** Sends even a reply that gives the reference away. */
      readonly anyway: boolean;
    };

/** `leak`: the reply was not sent. */
export interface SeatAnswer {
  readonly view: SeatView;
  readonly leak?: LeakWarning;
}

/**
 * A message of a person who is the agent, and the reply to it. Before the end no type of the agent's page has room for
 * the reference, the tests, or what the developer has not sent.
 */
export interface AgentTurn {
  /** From 1. */
  readonly turn: number;
  /** What the agent's person wrote, in Markdown. */
  readonly visible: string;
  /** It is the answer. */
  readonly final: boolean;
  readonly reply?: string;
}

export interface AgentDialogue {
  readonly id: string;
  readonly title: string;
  /** The request, Markdown. */
  readonly description: string;
  /** Pseudonym. */
  readonly developer: string;
  readonly turns: readonly AgentTurn[];
  /** The turn that is being played, from 1. */
  readonly turn: number;
  readonly maxTurns: number;
}

interface AgentHead {
  /** Grows with each change; of this run of the server. */
  readonly version: number;
  readonly own?: string;
}

export type AgentSeatView = AgentHead &
  (
    | { readonly phase: 'consent'; readonly consent: ConsentForm }
    /** No dialogue waits for this person. */
    | { readonly phase: 'waiting' }
    | { readonly phase: 'agent' | 'developer' | 'grading'; readonly dialogue: AgentDialogue }
    /** There is a grade, or a notice that says why there is none. */
    | {
        readonly phase: 'over';
        readonly dialogue: AgentDialogue;
        readonly grade?: GradeView;
        readonly notice?: string;
      }
  );

/** Body of `POST /agent/act`; that of `POST /agent/view` is a `ViewRequest`. */
export type AgentSeatAction =
  | { readonly type: 'consent'; readonly consent: ConsentRequest }
  | { readonly type: 'next'; readonly pseudonym: string }
  | {
      readonly type: 'say';
      readonly pseudonym: string;
      /** Dialogue and turn that the page showed: another tab may have gone on. */
      readonly dialogue: string;
      readonly turn: number;
      readonly text: string;
      readonly isAnswer: boolean;
    };

export interface AgentSeatAnswer {
  readonly view: AgentSeatView;
}
