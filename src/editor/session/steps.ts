import { Fault } from '../../core/fault';
import { isOwnFunction } from '../../core/task/own';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { stoppedWords } from '../reasons';
import { english } from '../translate';
import type { Effect, Logged, Present, Reduced, Result } from './actions';
import { failureLogged, isPlayedElsewhere, noticeOf, notices } from './notices';
import {
  isBehind,
  isCollaboratorsMove,
  loggedState,
  withRating,
  type State,
  type Work,
  type WorkRequest,
} from './state';

type Step = Exclude<Result, { type: 'consented' }>;
type Of<Kind extends Result['type']> = Extract<Result, { type: Kind }>;

export const reduced = (state: State, ...effects: readonly Effect[]): Reduced => ({ state, effects });

/** The work is over but for these effects, after which its claim is released. */
const ending = ({ work, ...state }: State, ...effects: readonly Effect[]): Reduced =>
  reduced({ ...state, work: work && { ...work, isEnding: true } }, ...effects, { type: 'finish' });

const readAnew: Effect = { type: 'read', as: 'read', isAnew: true };

/** Returns the state after what came of an effect, and what follows from it. */
export function stepped(state: State, action: Step, present: Present): Reduced {
  switch (action.type) {
    case 'caught-up':
      return isBehind(state, action.trajectory, present.t)
        ? wentOn(state, action.trajectory, present)
        : first(state, present);
    case 'read':
      return read({ ...state, ...loggedState(action.trajectory, present.t) });
    case 'looked':
      if (state.work !== undefined) return reduced(state);
      return reduced(shown(state, action.trajectory, present), { type: 'let-go' });
    case 'followed':
      return followed(state, action.trajectory, present);
    case 'logged':
      return logged(state, action, present);
    case 'seated':
      return seated(state, action, present);
    case 'streamed':
      return reduced({ ...state, stream: action.stream });
    case 'suggested': {
      const { suggestion } = action;
      const drafted = { ...state, drafter: suggestion.by, isSuggesting: false };
      return ending(drafted, { type: 'tell', message: { type: 'suggestion', suggestion } });
    }
    case 'graded':
      return ending({ ...state, grade: action.grade, phase: 'over' });
    case 'rated':
      return reduced(withRating(state, action.rating));
    case 'failed':
      return failed(state, action, present);
    case 'finished':
      return finished(state, action.error, present);
  }
}

/** Begins the work on a request, if nothing else is under way; at once after work that is only being put away. */
export function begun(state: State, request: WorkRequest, present: Present): Reduced {
  if (state.work?.isEnding === true && state.next === undefined) return reduced({ ...state, next: request });
  if (state.work !== undefined) {
    const sentence = 'The view asked for something while something else was under way. Nothing was done.';
    return reduced(state, { type: 'report', error: new Fault('session/busy', sentence) });
  }
  const { agentSpokeAt, phase: before } = state;
  const timed = agentSpokeAt === undefined ? {} : { milliseconds: present.at - agentSpokeAt };
  const work: Work = { request, before, ...timed };
  const working = { ...state, work, notice: undefined, warning: undefined };
  if (request.type === 'start') return first({ ...working, phase: 'agent' }, present);
  return reduced(working, request.type === 'again' ? readAnew : { type: 'read', as: 'caught-up' });
}

/** Takes the first step of the work, on a dialogue that is as the person sees it. */
function first(state: State, present: Present): Reduced {
  const { work, wantsSeat, seat } = state;
  if (work === undefined) return reduced(state);
  const { request, milliseconds } = work;
  const by = present.consent?.pseudonym ?? '';
  const timed = { by, ...(milliseconds !== undefined && { milliseconds }) };
  switch (request.type) {
    case 'start':
      return reduced(state, { type: 'begin', by });
    case 'reply':
      if (wantsSeat && seat !== 'developer') return takeSeatIfWanted(state, present);
      return reduced({ ...state, wantsSeat: false }, { type: 'reply', draft: request.draft, ...timed });
    case 'choose':
      return reduced(state, { type: 'choose', picked: request.picked, ...timed });
    case 'suggest':
      return reduced({ ...state, isSuggesting: true }, { type: 'suggest' });
    case 'simulator-once':
      return asks(state, 'simulator', { type: 'ask-simulator', isChosenNow: true });
    case 'simulator-on':
      return reduced(state, { type: 'give-seat' });
    case 'end-now':
      return reduced(state, { type: 'end' });
    case 'skip':
      return reduced(state, { type: 'abandon', reason: 'skipped', message: request.reason }, readAnew);
    case 'another-sample':
    case 'grade':
    case 'again':
      return reduced(state, { type: 'attach' });
  }
}

const shown = (state: State, trajectory: Trajectory, { t }: Present): State => ({
  ...{ ...state, ...loggedState(trajectory, t), warning: undefined },
});

/** Shows a dialogue that had gone on elsewhere as the log has it now; what the person asked is not done. */
function wentOn(state: State, trajectory: Trajectory, present: Present): Reduced {
  const now = shown(state, trajectory, present);
  const notice = now.notice ?? notices.wentOn(present.t);
  return ending({ ...now, notice }, { type: 'forget' });
}

/** The dialogue was read anew: it goes on, unless it was skipped or has gone on elsewhere meanwhile. */
function read(state: State): Reduced {
  const goesOn = state.work?.request.type === 'again' && ['stopped', 'skipped'].includes(state.phase);
  if (!goesOn) return ending(state);
  const phase = isCollaboratorsMove(state) ? 'simulator' : 'agent';
  return reduced({ ...state, phase, notice: undefined }, { type: 'attach' });
}

function followed(state: State, trajectory: Trajectory, present: Present): Reduced {
  if (state.work !== undefined || !isBehind(state, trajectory, present.t)) return reduced(state);
  const now = shown(state, trajectory, present);
  const look: readonly Effect[] = now.phase === 'stopped' ? [{ type: 'read', as: 'looked' }] : [];
  return reduced(now, { type: 'forget' }, ...look);
}

/** The log has another step: whoever moves next is asked, or the work is over. */
function logged(before: State, { by, dialogue }: Of<'logged'>, present: Present): Reduced {
  const agentSpokeAt = by === 'agent' ? present.at : before.agentSpokeAt;
  const state = { ...withSteps(before, dialogue), stream: undefined, agentSpokeAt };
  const { work } = state;
  if (work?.request.type === 'another-sample') {
    if (work.isDone !== true)
      return asks({ ...state, work: { ...work, isDone: true } }, 'agent', {
        type: 'ask-agent',
        isAgain: true,
      });
    const isSame = before.turns.at(-1)?.agent.text === state.turns.at(-1)?.agent.text;
    return goesOn(isSame ? { ...state, notice: notices.sameSample(present.t) } : state, dialogue, present);
  }
  if (before.phase === 'candidates' && dialogue.next !== 'chooser')
    return goesOn({ ...state, notice: notices.lookAlike(present.t) }, dialogue, present);
  return goesOn({ ...state, work: work && { ...work, isDone: true } }, dialogue, present);
}

const withSteps = (state: State, { episode, protocol, turns, candidates, answer }: Logged): State => ({
  ...{ ...state, episode, protocol, turns, candidates, answer },
});

/** Plays until it is the developer's turn or the dialogue is over. */
function goesOn(state: State, { next }: Pick<Logged, 'next'>, present: Present): Reduced {
  switch (next) {
    case 'agent':
      if (!present.showsCandidates || state.seat !== 'developer')
        return asks(state, 'agent', { type: 'ask-agent' });
      return reduced({ ...state, phase: 'candidates' }, { type: 'ask-both' });
    case 'chooser':
      return ending({ ...state, phase: 'choosing' });
    case 'collaborator':
      if (state.seat === 'simulator') return asks(state, 'simulator', { type: 'ask-simulator' });
      return ending({ ...state, phase: 'developer' });
    case 'nobody': {
      const over = { ...state, playedBy: present.agentName };
      // A developer's own function has no tests: the developer decides about the answer in the file.
      if (isOwnFunction(state.task)) return ending({ ...over, phase: 'over' });
      return reduced({ ...over, phase: 'grading' }, { type: 'grade' });
    }
  }
}

const asks = (state: State, by: 'agent' | 'simulator', effect: Effect): Reduced =>
  reduced({ ...state, phase: by, stream: { by, text: '', thinking: 0 } }, effect);

export function takeSeatIfWanted(state: State, { consent }: Present): Reduced {
  if (!state.wantsSeat || consent === undefined) return reduced(state);
  const taken = { ...state, wantsSeat: false };
  return state.seat === 'developer'
    ? reduced(taken)
    : reduced(taken, { type: 'take-seat', by: consent.pseudonym });
}

function seated(before: State, { seat, dialogue }: Of<'seated'>, present: Present): Reduced {
  const state = { ...before, seat };
  const { work } = state;
  if (work === undefined) return reduced(state, { type: 'let-go' });
  if (work.request.type === 'reply' && work.isDone !== true && work.isEnding !== true)
    return first(state, present);
  if (work.request.type === 'simulator-on' && seat === 'simulator')
    return goesOn(withSteps(state, dialogue), dialogue, present);
  // The seat was taken while the agent writes, or after the simulator was stopped.
  return reduced(state);
}

/** Tells the page, which waits for the reply, that it is not in the log. */
export function notSent(state: State, { t }: Present, effects: readonly Effect[] = []): Reduced {
  const notice = state.phase === 'developer' ? (state.notice ?? notices.notSent(t)) : state.notice;
  return reduced({ ...state, notice }, ...effects, { type: 'tell', message: { type: 'not-sent' } });
}

/** The work is over. A reply that did not get into the log is told, and what was asked for meanwhile begins. */
function finished(state: State, error: unknown, present: Present): Reduced {
  const { work, next, phase } = state;
  const candidates = phase === 'choosing' ? state.candidates : undefined;
  const idle = { ...state, work: undefined, stream: undefined, next: undefined, candidates };
  const lost = [work?.isDone === true ? undefined : work?.request, error === undefined ? undefined : next];
  const isLost = lost.some((request) => request?.type === 'reply' && request.isUsual !== true);
  if (error !== undefined) {
    const told = { ...idle, notice: noticeOf(error, 'agent', present.t) };
    const report: Effect = { type: 'report', error };
    return isLost ? notSent(told, present, [report]) : reduced(told, report);
  }
  if (isLost) return notSent(idle, present);
  // The agent may have ended the dialogue itself before it was stopped.
  const isTooLate = next?.type === 'end-now' && !['developer', 'stopped'].includes(phase);
  return next === undefined || isTooLate ? reduced(idle) : begun(idle, next, present);
}

function failed(state: State, failure: Of<'failed'>, present: Present): Reduced {
  const { work } = state;
  const isStep = work !== undefined && work.isEnding !== true && !failure.isAside;
  return isStep ? workFailed(state, work, failure, present) : failedAside(state, failure.error, present);
}

/** Ends work that was stopped or failed: the log gets an entry where the dialogue cannot go on, and the person decides. */
function workFailed(before: State, work: Work, failure: Of<'failed'>, present: Present): Reduced {
  const { error, isStopped, episode } = failure;
  const { phase: during, seat, wantsSeat } = before;
  const { t } = present;
  const awaitsReply = isCollaboratorsMove(before);
  const party = during !== 'agent' && (during === 'simulator' || awaitsReply) ? 'simulator' : 'agent';
  const isGrading = during === 'grading' || work.before === 'over';
  const notice = isStopped ? before.notice : noticeOf(error, isGrading ? 'grader' : party, t);
  const state = { ...before, episode, notice, isSuggesting: false };
  // The panel was closed: the dialogue stays open in the log, as after a reload.
  if (state.isClosed) return ending(state);
  if (isPlayedElsewhere(error)) {
    const shownThere = elsewhere(state, error, work.before);
    return ending(shownThere.state, ...shownThere.effects);
  }
  const told: readonly Effect[] = isStopped ? [] : [{ type: 'report', error }];
  if (isGrading) return ending({ ...state, phase: 'over', notice: notice ?? notices.notGraded(t) }, ...told);
  if (episode === undefined) return ending({ ...state, phase: 'ready' }, ...told);
  if (wantsSeat || (seat === 'developer' && awaitsReply)) {
    const isSample = isStopped && during === 'agent' && awaitsReply;
    const next = isSample ? { ...state, notice: notices.sampleStopped(t) } : state;
    const taken = takeSeatIfWanted({ ...next, phase: 'developer' }, present);
    return ending(taken.state, ...told, ...taken.effects);
  }
  const stopped = { ...state, phase: work.before === 'skipped' ? work.before : 'stopped' } as const;
  const abandon: Effect = isStopped
    ? { type: 'abandon', reason: 'cancelled', message: stoppedWords(party, english) }
    : { type: 'abandon', reason: 'failed', message: failureLogged(error) };
  return ending(isStopped ? { ...stopped, notice: notices.stopped(t, party) } : stopped, ...told, abandon);
}

/** Tells the person of a failure that leaves the move as it is: no step of the work has failed. */
function failedAside(state: State, error: unknown, present: Present): Reduced {
  const { work, phase } = state;
  const end: Effect[] = work === undefined ? [{ type: 'let-go' }] : [];
  if (work?.isEnding === true) end.push({ type: 'finish' });
  if (isPlayedElsewhere(error)) return elsewhere(state, error, phase, ...end);
  return reduced(
    { ...state, notice: noticeOf(error, 'agent', present.t) },
    { type: 'report', error },
    ...end,
  );
}

/** Shows a dialogue that is played elsewhere; nothing can be done here but to ask again. */
function elsewhere(state: State, fault: Fault, before: State['phase'], ...end: readonly Effect[]): Reduced {
  const notice = notices.elsewhere(fault.message, before === 'over');
  const phase = before === 'over' || before === 'skipped' ? before : 'stopped';
  return reduced({ ...state, wantsSeat: false, notice, phase }, { type: 'report', error: fault }, ...end);
}
