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
  readonly agent: string;
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
