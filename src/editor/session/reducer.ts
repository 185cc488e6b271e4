import { isDeepStrictEqual } from 'node:util';
import { leakWarningOf } from '../../core/dialogue/leak';
import { NO_PREFERENCE, limitReply } from '../../core/dialogue/protocol';
import { Fault } from '../../core/fault';
import { isOwnFunction } from '../../core/task/own';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { ConsentRequest, Phase } from '../../../webview/session/protocol';
import {
  type Action,
  type Effect,
  type Logged,
  type Present,
  type Reduced,
  type Request,
  type Result,
  asksConsent,
  canEnd,
  isBehind,
  isCollaboratorsMove,
  loggedState,
  withRating,
  type RatingRequest,
  type State,
  type Work,
  type WorkRequest,
} from './state';
import { failedAside, notSent, workFailed } from './failures';
import { noticeOf, notices } from './notices';

type Of<Kind extends Result['type']> = Extract<Result, { type: Kind }>;

const reduced = (state: State, ...effects: readonly Effect[]): Reduced => ({ state, effects });

const ending = ({ work, ...state }: State, ...effects: readonly Effect[]): Reduced =>
  reduced({ ...state, work: work && { ...work, isEnding: true } }, ...effects, { type: 'finish' });

const readAnew: Effect = { type: 'read', as: 'read', isAnew: true };

/**
 * The whole logic of a session, and pure: requests and results of effects are actions, everything else that it reads is
 * in `present`. A message is in the log before it is in the state.
 */
export function reduce(state: State, action: Action, present: Present): Reduced {
  switch (action.type) {
    case 'start':
      return start(state, action.consent, present);
    case 'consented':
      return start(state, undefined, present);
    case 'reply':
      return reply(state, action, present);
    case 'dont-mind':
      return say(state, { type: 'reply', draft: { text: NO_PREFERENCE }, isUsual: true }, present);
    case 'edited':
      return reduced(state.warning === undefined ? state : { ...state, warning: undefined });
    case 'choose':
      return present.consent === undefined ? reduced(state) : work(state, action, present);
    case 'suggest':
    case 'another-sample':
    case 'simulator-once':
    case 'simulator-on':
    case 'again':
      return work(state, action, present);
    case 'skip':
      return skip(state, action, present);
    case 'grade':
      return grade(state, present);
    case 'take-seat':
      return takeSeat(state, present);
    case 'stop':
      return reduced(state, { type: 'stop' });
    case 'may-end':
      return mayEnd(state, present);
    case 'end-now':
      return endNow(state, present);
    case 'rate':
    case 'rate-turn':
      return rate(state, action, present);
    case 'look':
      if (!['choosing', 'developer', 'asking', 'stopped'].includes(state.phase)) return reduced(state);
      return reduced(state, { type: 'read', as: 'looked', tries: action.tries });
    case 'follow':
      if (['agent', 'candidates', 'simulator', 'grading'].includes(state.phase)) return reduced(state);
      return reduced(state, { type: 'follow' });
    case 'drafted-by':
      return reduced({ ...state, drafter: action.simulator });
    case 'offer':
      return reduced({ ...state, hasNext: action.hasNext, hasGuidelines: action.hasGuidelines });
    case 'undone':
      return reduced({ ...state, isUndone: action.isUndone });
    case 'close':
      return reduced({ ...state, isClosed: true }, { type: 'stop' }, { type: 'let-go' });
    case 'caught-up':
      return isBehind(state, action.trajectory, present.t)
        ? wentOn(state, action.trajectory, present)
        : first(state, present);
    case 'read':
      return read({ ...state, ...loggedState(action.trajectory, present.consent?.pseudonym, present.t) });
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
      return ending(
        { ...state, grade: action.grade, phase: 'over' },
        ...(action.grade.page === undefined ? [] : [{ type: 'compare-pages' } as const]),
      );
    case 'compare-pages':
      return state.grade?.page === undefined || state.differences !== undefined
        ? reduced(state)
        : reduced(state, { type: 'compare-pages' });
    case 'compared':
      return reduced({ ...state, differences: action.differences });
    case 'rated':
      return reduced(withRating(state, action.rating));
    case 'failed':
      return failed(state, action, present);
    case 'finished':
      return finished(state, action.error, present);
  }
}

/** The phases in which each request can be carried out, and its name in the report of one that does not fit. */
const fitting: Readonly<Record<Exclude<WorkRequest['type'], 'reply'>, readonly [string, ...Phase[]]>> = {
  start: ['the start', 'ready'],
  choose: ['a choice', 'choosing'],
  suggest: ['a suggestion', 'developer'],
  'another-sample': ['another sample', 'developer'],
  'simulator-once': ['a reply of the simulator', 'developer'],
  'simulator-on': ['the hand-over', 'developer'],
  again: ['another try', 'stopped', 'skipped'],
  skip: ['to be skipped', 'choosing', 'developer', 'asking', 'stopped'],
  'end-now': ['the end', 'developer', 'stopped'],
  grade: ['a grade', 'over'],
};

function work(state: State, request: Exclude<WorkRequest, { type: 'reply' }>, present: Present): Reduced {
  const [what, ...phases] = fitting[request.type];
  return phases.includes(state.phase) ? begun(state, request, present) : unfit(state, what);
}

/** Reports a request that cannot be done now: the view lags behind, or a key was pressed twice. */
function unfit(state: State, what: string): Reduced {
  const sentence = `The view asked for ${what}, which does not fit what the session does now (${state.phase}). Nothing was done.`;
  return reduced(state, { type: 'report', error: new Fault('session/not-now', sentence) });
}

/** Begins the dialogue; in one that has begun, lets the developer reply once the consent is given. */
function start(state: State, consent: ConsentRequest | undefined, present: Present): Reduced {
  const given = present.consent;
  if (consent !== undefined && !isDeepStrictEqual(consent, given)) {
    // The form was not shown, so no one gave this consent; a person changes it by the command for it.
    if (!asksConsent(state, given?.pseudonym)) return unfit(state, 'a consent that was not asked for');
    return reduced(state, { type: 'give-consent', consent });
  }
  if (given === undefined) return reduced(state);
  if (['choosing', 'developer', 'asking'].includes(state.phase)) return takeSeatIfWanted(state, present);
  if (state.phase === 'ready' && state.seat !== 'agent' && present.agentName === '') return reduced(state);
  return work(state, { type: 'start' }, present);
}

/** A reply that gives the reference away is not sent at first: the developer is warned, and may send it `anyway`. */
function reply(
  state: State,
  { draft, anyway }: Extract<Request, { type: 'reply' }>,
  present: Present,
): Reduced {
  if (takesReply(state, present) && state.seat !== 'agent' && anyway !== true) {
    const { task } = state;
    const said = limitReply(draft.text, (state.protocol ?? present.protocol).replyLimit);
    const warning = leakWarningOf(task, said);
    if (warning !== undefined)
      return reduced({ ...state, warning }, { type: 'tell', message: { type: 'leak-warning', ...warning } });
  }
  return say(state, { type: 'reply', draft }, present);
}

function say(state: State, request: Extract<WorkRequest, { type: 'reply' }>, present: Present): Reduced {
  if (takesReply(state, present)) return begun(state, request, present);
  const refused = unfit(state, 'a reply');
  return request.isUsual === true ? refused : notSent(state, present, refused.effects);
}

const takesReply = ({ phase, work: running, next }: State, { consent }: Present): boolean =>
  (phase === 'developer' || phase === 'asking') &&
  (running === undefined || (running.isEnding === true && next === undefined)) &&
  consent !== undefined;

function takeSeat(state: State, present: Present): Reduced {
  const { phase, seat } = state;
  if (phase === 'simulator') return reduced({ ...state, wantsSeat: true }, { type: 'stop' });
  if (seat !== 'simulator' || !['agent', 'candidates', 'stopped'].includes(phase))
    return unfit(state, 'the seat');
  const next = phase === 'stopped' && isCollaboratorsMove(state) ? 'developer' : phase;
  return takeSeatIfWanted({ ...state, wantsSeat: true, phase: next }, present);
}

/** A skip has a reason in the person's own words, which are not logged without consent. */
function skip(state: State, request: Extract<Request, { type: 'skip' }>, present: Present): Reduced {
  if (present.consent === undefined)
    return unfit(state, 'a skip by somebody who has not agreed to be logged');
  return work(state, request, present);
}

function grade(state: State, present: Present): Reduced {
  const hasGrade = state.grade !== undefined || isOwnFunction(state.task);
  if (state.phase === 'over' && hasGrade) return unfit(state, 'another grade');
  return work(state, { type: 'grade' }, present);
}

/** The dialogue cannot end while two candidates wait: neither is the agent's message yet, and the person is told so. */
function mayEnd(state: State, { t }: Present): Reduced {
  if (state.phase === 'choosing') return reduced({ ...state, notice: notices.chooseFirst(t) });
  return canEnd(state) ? reduced(state) : unfit(state, 'the end');
}

function endNow(state: State, present: Present): Reduced {
  if (!canEnd(state)) return mayEnd(state, present);
  if (state.work !== undefined && state.work.isEnding !== true)
    return reduced({ ...state, next: { type: 'end-now' } }, { type: 'stop' });
  return work(state, { type: 'end-now' }, present);
}

/** Nothing is logged of a rating without consent, and nothing of a dialogue that has not begun. */
function rate(state: State, request: RatingRequest, { consent }: Present): Reduced {
  const refused = (which: string): Reduced => {
    const sentence = `The view sent a rating ${which}. Nothing was done.`;
    return reduced(state, { type: 'report', error: new Fault('session/no-rating', sentence) });
  };
  if (request.type === 'rate-turn' && state.turns[request.turn - 1] === undefined)
    return refused(`of turn ${request.turn}, which is not there`);
  if (consent === undefined) return refused('before anybody has agreed to be logged');
  if (state.episode === undefined) return refused('of a dialogue that has not begun');
  return reduced(state, { type: 'rate', request, by: consent.pseudonym });
}

function begun(state: State, request: WorkRequest, present: Present): Reduced {
  if (state.work?.isEnding === true && state.next === undefined) return reduced({ ...state, next: request });
  if (state.work !== undefined) {
    const sentence = 'The view asked for something while something else was under way. Nothing was done.';
    return reduced(state, { type: 'report', error: new Fault('session/busy', sentence) });
  }
  const { agentSpokeAt, phase: before } = state;
  const timed = agentSpokeAt === undefined ? {} : { milliseconds: present.at - agentSpokeAt };
  const work: Work = { request, before, ...timed };
  const working = { ...state, work, notice: undefined, warning: undefined, stream: undefined };
  const phase = state.seat === 'agent' ? 'asking' : 'agent';
  if (request.type === 'start') return first({ ...working, phase }, present);
  return reduced(working, request.type === 'again' ? readAnew : { type: 'read', as: 'caught-up' });
}

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
      if (seat === 'agent') return reduced(state, { type: 'say', draft: request.draft, by });
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

const shown = (state: State, trajectory: Trajectory, { t, consent }: Present): State => ({
  ...{ ...state, ...loggedState(trajectory, consent?.pseudonym, t), warning: undefined, stream: undefined },
});

/** Shows a dialogue that was played elsewhere as the log has it now; the request is dropped. */
function wentOn(state: State, trajectory: Trajectory, present: Present): Reduced {
  const now = shown(state, trajectory, present);
  const notice = now.notice ?? notices.wentOn(present.t);
  return ending({ ...now, notice }, { type: 'forget' });
}

/** The dialogue was read again: it continues, unless it was skipped or played elsewhere meanwhile. */
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

const withSteps = (
  state: State,
  { episode, protocol, playedBy, turns, candidates, answer }: Logged,
): State => ({ ...{ ...state, episode, protocol, playedBy, turns, candidates, answer } });

function goesOn(state: State, { next }: Pick<Logged, 'next'>, present: Present): Reduced {
  switch (next) {
    case 'agent':
      if (state.seat === 'agent') return ending({ ...state, phase: 'asking' });
      // Choices rank models by dialogues about tasks; one's own function needs one answer.
      if (!present.showsCandidates || state.seat !== 'developer' || isOwnFunction(state.task))
        return asks(state, 'agent', { type: 'ask-agent' });
      return reduced({ ...state, phase: 'candidates' }, { type: 'ask-both' });
    case 'chooser':
      return ending({ ...state, phase: 'choosing' });
    case 'collaborator':
      if (state.seat !== 'developer') return asks(state, 'simulator', { type: 'ask-simulator' });
      return ending({ ...state, phase: 'developer' });
    case 'nobody':
      // A developer's own function has no tests: the developer decides about the answer in the file.
      if (isOwnFunction(state.task)) return ending({ ...state, phase: 'over' });
      return reduced({ ...state, phase: 'grading' }, { type: 'grade' });
  }
}

const asks = (state: State, by: 'agent' | 'simulator', effect: Effect): Reduced =>
  reduced({ ...state, phase: by, stream: { by, text: '', thinking: 0 } }, effect);

function takeSeatIfWanted(state: State, { consent }: Present): Reduced {
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

/** The work is over. A reply that did not get into the log is told, and what was asked for meanwhile begins. */
function finished(state: State, error: unknown, present: Present): Reduced {
  const { work, next, phase } = state;
  const candidates = phase === 'choosing' ? state.candidates : undefined;
  const stream = state.stream?.ended && state.stream;
  const idle = { ...state, work: undefined, stream, next: undefined, candidates };
  const lost = [work?.isDone === true ? undefined : work?.request, error === undefined ? undefined : next];
  const isLost = lost.some((request) => request?.type === 'reply' && request.isUsual !== true);
  if (error !== undefined) {
    const told = { ...idle, notice: noticeOf(error, 'agent', present) };
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
  if (!isStep) return failedAside(state, failure.error, present);
  const left = workFailed(state, work, failure, present);
  const goesOnHere = left.state.phase === 'developer' && !left.state.isClosed;
  const taken = goesOnHere ? takeSeatIfWanted(left.state, present) : reduced(left.state);
  return ending(taken.state, ...left.effects, ...taken.effects);
}
