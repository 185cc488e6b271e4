import type { Protocol } from '../../core/dialogue/protocol';
import type { Mover } from '../../core/dialogue/state';
import type { Grade } from '../../core/grading/grade';
import type { EventOf } from '../../core/trajectory/event';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type {
  ConsentRequest,
  Draft,
  Picked,
  Seat,
  StreamView,
  Suggestion,
  ToWebview,
} from '../../../webview/session/protocol';
import type { Translate } from '../translate';
import type { Connected } from './notices';
import type { RatingRequest, State, WorkRequest } from './state';

/** Everything that a person can ask of a session; most are messages and actions of the page as they are. */
export type Request =
  | Exclude<WorkRequest, { type: 'start' | 'reply' }>
  | { readonly type: 'start'; readonly consent?: ConsentRequest }
  /** `anyway`: the reply is sent even when it gives the reference away. */
  | { readonly type: 'reply'; readonly draft: Draft; readonly anyway?: boolean }
  | RatingRequest
  /** `edited`: the developer writes on, which withdraws a warning. `may-end`: the person is about to be asked. */
  | { readonly type: 'dont-mind' | 'take-seat' | 'stop' | 'edited' | 'may-end' }
  /** Looks for a dialogue that is played elsewhere. @see Session.look */
  | { readonly type: 'look'; readonly tries?: number }
  /** Shows what another window or a command has logged of the dialogue. */
  | { readonly type: 'follow' }
  /** Compares the pages of a graded answer, which the log does not hold. */
  | { readonly type: 'compare-pages' }
  | { readonly type: 'drafted-by'; readonly simulator: string | undefined }
  | { readonly type: 'offer'; readonly hasNext: boolean; readonly hasGuidelines: boolean }
  /** The accepted answer is undone in the file, or redone. */
  | { readonly type: 'undone'; readonly isUndone: boolean }
  | { readonly type: 'close' };

/** A dialogue after a step that is in the log, and who moves next. */
export type Logged = Pick<State, 'episode' | 'protocol' | 'playedBy' | 'turns' | 'candidates' | 'answer'> & {
  readonly next: Mover;
};

/** Purpose for which a dialogue was read: to begin work on it, to continue after it was left, or to show it. */
type ReadAs = 'caught-up' | 'read' | 'looked';

interface Failure {
  readonly error: unknown;
  readonly isStopped: boolean;
  /** True for what was no step of the work. */
  readonly isAside: boolean;
  /** The dialogue, which may have begun before the failure. */
  readonly episode: string | undefined;
}

export type Result =
  | { readonly type: 'consented' }
  | { readonly type: ReadAs | 'followed'; readonly trajectory: Trajectory }
  | { readonly type: 'logged'; readonly by?: 'agent'; readonly dialogue: Logged }
  | { readonly type: 'seated'; readonly seat: Seat; readonly dialogue: Logged }
  | { readonly type: 'streamed'; readonly stream: StreamView }
  | { readonly type: 'suggested'; readonly suggestion: Suggestion }
  | { readonly type: 'graded'; readonly grade: Grade }
  | { readonly type: 'compared'; readonly differences: readonly string[] }
  | { readonly type: 'rated'; readonly rating: EventOf<'rating'> | EventOf<'turn-rating'> }
  | ({ readonly type: 'failed' } & Failure)
  /** The work is over, and nothing is claimed any more. */
  | { readonly type: 'finished'; readonly error?: unknown };

export type Action = Request | Result;

/** The member of a union that has this type, alone or among others. */
export type OfKind<Message, Kind> = Message extends { readonly type: infer Kinds }
  ? Kind extends Kinds
    ? Message
    : never
  : never;

interface Timed {
  readonly by: string;
  readonly milliseconds?: number;
}

/** Something to be carried out outside of the state. Its result comes back as an action. */
export type Effect =
  /** `tries` are a moment apart; `isAnew`: it is then resumed with the present configuration. */
  | { readonly type: 'read'; readonly as: ReadAs; readonly tries?: number; readonly isAnew?: boolean }
  /** Forgets the dialogue; the next step resumes it with the configuration of that moment. */
  | { readonly type: 'forget' }
  | { readonly type: 'begin'; readonly by: string }
  | { readonly type: 'attach' }
  | ({ readonly type: 'reply'; readonly draft: Draft } & Timed)
  | ({ readonly type: 'choose'; readonly picked: Picked } & Timed)
  /** `isAgain`: the agent rewrites its last message. */
  | { readonly type: 'ask-agent'; readonly isAgain?: boolean }
  | { readonly type: 'ask-both' }
  /** `isChosenNow`: the simulator that is configured now. */
  | { readonly type: 'ask-simulator'; readonly isChosenNow?: boolean }
  | { readonly type: 'suggest' }
  | { readonly type: 'give-seat' }
  | { readonly type: 'take-seat'; readonly by: string }
  | { readonly type: 'end' }
  | { readonly type: 'grade' }
  /** What the answer to a page task still lacks. */
  | { readonly type: 'compare-pages' }
  | { readonly type: 'abandon'; readonly reason: EventOf<'abandoned'>['reason']; readonly message: string }
  | { readonly type: 'rate'; readonly request: RatingRequest; readonly by: string }
  | { readonly type: 'give-consent'; readonly consent: ConsentRequest }
  | { readonly type: 'follow' }
  | { readonly type: 'stop' }
  /** `finish` releases the claim after the work. */
  | { readonly type: 'let-go' | 'finish' }
  | { readonly type: 'report'; readonly error: unknown }
  | { readonly type: 'tell'; readonly message: ToWebview };

/** The reducer reads this beside the state: the settings of the moment, and the time. */
export interface Present {
  readonly t: Translate;
  /** Time in milliseconds since 1970. */
  readonly at: number;
  readonly consent: ConsentRequest | undefined;
  readonly agentName: string;
  readonly connected: Connected;
  readonly showsCandidates: boolean;
  readonly protocol: Protocol;
}

/** A state, and what is to be carried out because of it, in this order. */
export interface Reduced {
  readonly state: State;
  readonly effects: readonly Effect[];
}
