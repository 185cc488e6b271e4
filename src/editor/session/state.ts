import { isDeepStrictEqual } from 'node:util';
import type { Protocol } from '../../core/dialogue/protocol';
import { undecidedOf, type Mover } from '../../core/dialogue/state';
import type { Grade } from '../../core/grading/grade';
import { isOwnFunction } from '../../core/task/own';
import type { Task } from '../../core/task/task';
import { PERSON, type EventOf } from '../../core/trajectory/event';
import { ratedBy } from '../../core/trajectory/opinions';
import type { Trajectory, Turn } from '../../core/trajectory/trajectory';
import type {
  AnswerDecision,
  DialogueRating,
  Draft,
  FromWebview,
  LeakWarning,
  Notice,
  Phase,
  Picked,
  Seat,
  StreamView,
  ConsentRequest,
  Suggestion,
  ToWebview,
} from '../../../webview/session/protocol';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';
import { notices, type Connected } from './notices';

export type RatingRequest = Extract<FromWebview, { type: 'rate' | 'rate-turn' }>;

/** A request of the person that is carried out step by step, and can be stopped. */
export type WorkRequest =
  | { readonly type: 'start' }
  /** `isUsual`: the reply of a developer who has no preference. */
  | { readonly type: 'reply'; readonly draft: Draft; readonly isUsual?: boolean }
  | { readonly type: 'choose'; readonly picked: Picked }
  | { readonly type: 'skip'; readonly reason: string }
  | {
      readonly type:
        'suggest' | 'another-sample' | 'simulator-once' | 'simulator-on' | 'end-now' | 'again' | 'grade';
    };

/** The part of a session's state that the log holds: a session that is opened again begins with it. */
interface LoggedState {
  readonly episode: string | undefined;
  readonly phase: Phase;
  readonly notice: Notice | undefined;
  readonly seat: Seat;
  readonly turns: readonly Turn[];
  readonly candidates: EventOf<'candidates'> | undefined;
  readonly answer: string | undefined;
  readonly grade: Grade | undefined;
  readonly rating: DialogueRating;
  readonly decision: AnswerDecision | undefined;
  readonly protocol: Protocol | undefined;
  /** The agent that spoke last; the dialogue keeps its name when it is over, whichever agent is chosen since. */
  readonly playedBy: string | undefined;
}

/** A request of the person that is being carried out, step by step. Only one is at a time. */
export interface Work {
  readonly request: WorkRequest;
  readonly before: Phase;
  /** Time that the person took for a reply or a choice, in milliseconds, where it is known. */
  readonly milliseconds?: number;
  /** True once the log has the reply, or the agent was asked for the other sample. */
  readonly isDone?: boolean;
  /** True once nothing more comes of it, and only what is left over is being put away. */
  readonly isEnding?: boolean;
}

/** The whole state of a session. It changes only by `reduce`. */
export interface State extends LoggedState {
  readonly task: Task;
  readonly work: Work | undefined;
  readonly stream: StreamView | undefined;
  /** Reason why the draft was not sent, until the person does something else. */
  readonly warning: LeakWarning | undefined;
  readonly isSuggesting: boolean;
  readonly drafter: string | undefined;
  /** True when the developer wants the seat back; it is logged as soon as the dialogue can take it. */
  readonly wantsSeat: boolean;
  /** Begins as soon as the present work is over: asked for while that is being stopped or put away. */
  readonly next: WorkRequest | undefined;
  /** Time of the agent's last message, in milliseconds since 1970, if it arrived in this session. */
  readonly agentSpokeAt: number | undefined;
  /** The panel was closed; what fails from now on is not logged, as after a reload of the window. */
  readonly isClosed: boolean;
  /** The developer's own file is again as it was before the answer was accepted. */
  readonly isUndone: boolean;
  /** What the graded page still lacks, in words; undefined before it was compared. */
  readonly differences: readonly string[] | undefined;
  readonly hasNext: boolean;
  readonly hasGuidelines: boolean;
}

export const newState = (task: Task, seat: Seat = 'developer'): State => ({
  ...{ task, phase: 'ready', seat, turns: [], rating: {} },
  ...{ episode: undefined, notice: undefined, candidates: undefined, answer: undefined, grade: undefined },
  ...{ decision: undefined, protocol: undefined, playedBy: undefined, differences: undefined },
  ...{ work: undefined, stream: undefined, warning: undefined, drafter: undefined },
  ...{ agentSpokeAt: undefined, isSuggesting: false, wantsSeat: false, next: undefined },
  ...{ isClosed: false, isUndone: false, hasNext: false, hasGuidelines: false },
});

/** A dialogue of two people, which only a browser lets them play, is the developer's here. */
export const isPlayedAsAgent = ({
  agent,
  collaborator,
}: Pick<Trajectory, 'agent' | 'collaborator'>): boolean =>
  agent === PERSON && collaborator.kind !== 'developer';

/** @param own pseudonym of the person at this editor; only their ratings are shown, which they can change */
export function loggedState(trajectory: Trajectory, own: string | undefined, t: Translate): LoggedState {
  const { id, collaborator, answer, grades, damaged, doubtful } = trajectory;
  const { turns, rating } = ratedBy(own, trajectory);
  const outcome = trajectory.outcome?.outcome;
  const { phase, notice } = restingPlace(trajectory, t);
  const lost = damaged ?? doubtful;
  return {
    episode: id,
    phase,
    notice: notice ?? (lost === undefined ? undefined : notices.damaged(lost)),
    seat: isPlayedAsAgent(trajectory)
      ? 'agent'
      : collaborator.kind === 'developer'
        ? 'developer'
        : 'simulator',
    turns,
    candidates: undecidedOf(trajectory.pending ?? []),
    answer: answer?.answer,
    grade: grades.at(-1)?.grade,
    rating: ratingIn(rating),
    // An accepted answer may have been edited since.
    decision: outcome === 'edited' ? 'accepted' : outcome,
    protocol: trajectory.started.protocol,
    playedBy: trajectory.agent,
  };
}

function restingPlace(trajectory: Trajectory, t: Translate): Pick<LoggedState, 'phase' | 'notice'> {
  const { state, abandoned, turns, collaborator, grades } = trajectory;
  if (state === 'answered') {
    const isUngraded = grades.length === 0 && !isOwnFunction(trajectory.task);
    return { phase: 'over', notice: isUngraded ? notices.notGraded(t) : undefined };
  }
  if (state === 'abandoned' && abandoned?.reason === 'skipped') {
    return { phase: 'skipped', notice: notices.skipped(t, abandoned.message) };
  }
  if (state === 'abandoned' && abandoned !== undefined) {
    const kind = abandoned.reason === 'failed' ? 'error' : 'information';
    return { phase: 'stopped', notice: { kind, message: reasonWords(abandoned.message, t), actions: [] } };
  }
  if (undecidedOf(trajectory.pending ?? []) !== undefined) return { phase: 'choosing', notice: undefined };
  const awaitsReply = isCollaboratorsMove({ turns, answer: undefined });
  if (awaitsReply && collaborator.kind === 'developer') return { phase: 'developer', notice: undefined };
  if (isPlayedAsAgent(trajectory) && !awaitsReply) return { phase: 'asking', notice: undefined };
  return { phase: 'stopped', notice: notices.cutOff(t) };
}

/** True if another window or a command appended to this dialogue. */
export function isBehind(state: State, trajectory: Trajectory, t: Translate): boolean {
  return !isDeepStrictEqual(progressOf(state), progressOf(loggedState(trajectory, undefined, t)));
}

function progressOf({ turns, candidates, answer, phase, grade, decision }: LoggedState): unknown {
  return {
    said: turns.map(({ agent, reply }) => [agent.text, reply?.text]),
    candidates: candidates?.candidates.map(({ text }) => text),
    ...{ answer, decision, isSkipped: phase === 'skipped', isGraded: grade !== undefined },
  };
}

export function isCollaboratorsMove({ turns, answer }: Pick<LoggedState, 'turns' | 'answer'>): boolean {
  const last = turns.at(-1);
  return last !== undefined && last.reply === undefined && answer === undefined;
}

export const canEnd = ({ turns, phase, seat }: State): boolean =>
  turns.length > 0 &&
  seat !== 'agent' &&
  ['agent', 'candidates', 'simulator', 'developer', 'stopped'].includes(phase);

export const asksConsent = ({ phase }: State, by: string | undefined): boolean =>
  by === undefined && ['ready', 'choosing', 'developer', 'asking'].includes(phase);

/** True once no one will choose any more, so that the writers of candidates may be shown. */
export const tellsNames = ({ phase }: LoggedState): boolean =>
  phase === 'over' || phase === 'grading' || phase === 'skipped';

export function ratingOf({ rating, turns }: State, request: RatingRequest): NewRating | undefined {
  if (request.type === 'rate') {
    const { stars, comment } = { ...rating, ...request.change };
    const changed = { ...(stars !== undefined && { stars }), ...(comment && { comment }) };
    return isDeepStrictEqual(changed, rating) ? undefined : { event: 'rating', ...changed };
  }
  const { turn, change } = request;
  const before = turns[turn - 1]?.rating;
  const { thumb, comment } = { thumb: before?.thumb, comment: before?.comment, ...change };
  const changed = { ...(thumb && thumb !== 'none' && { thumb }), ...(comment && { comment }) };
  const isSame = changed.thumb === before?.thumb && changed.comment === before?.comment;
  return isSame ? undefined : { event: 'turn-rating', turn, ...changed };
}

/** A rating before it is known who gives it, and before the log adds time and dialogue. */
export type NewRating = Omit<EventOf<'rating'>, Stamped> | Omit<EventOf<'turn-rating'>, Stamped>;
type Stamped = 'version' | 'at' | 'episode' | 'by';

export function withRating(state: State, rating: EventOf<'rating'> | EventOf<'turn-rating'>): State {
  if (rating.event === 'rating') return { ...state, rating: ratingIn(rating) };
  const turns = state.turns.map((turn) => (turn.agent.turn === rating.turn ? { ...turn, rating } : turn));
  return { ...state, turns };
}

const ratingIn = (rating: EventOf<'rating'> | undefined): DialogueRating => ({
  ...(rating?.stars !== undefined && { stars: rating.stars }),
  ...(rating?.comment !== undefined && { comment: rating.comment }),
});

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
  | { readonly type: 'follow' }
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
  /** The person speaks as the agent. */
  | { readonly type: 'say'; readonly draft: Draft; readonly by: string }
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
