import { isDeepStrictEqual } from 'node:util';
import { leakedPassages, measureLeak } from '../../core/dialogue/leak';
import { NO_PREFERENCE } from '../../core/dialogue/noPreference';
import { limitReply } from '../../core/dialogue/protocol';
import { Fault } from '../../core/fault';
import { isOwnFunction } from '../../core/task/own';
import type { ConsentRequest, Phase } from '../../../webview/session/protocol';
import type { Action, Present, Reduced, Request } from './actions';
import { notices } from './notices';
import {
  asksConsent,
  canEnd,
  isCollaboratorsMove,
  type RatingRequest,
  type State,
  type WorkRequest,
} from './state';
import { begun, notSent, stepped, takeSeatIfWanted, reduced } from './steps';

/**
 * Returns the state after an action, and its effects. It is the whole of a session's logic, and pure: what the person
 * asks and what comes of each effect are actions, and everything else that it reads is in `present`. A message is in
 * the log before it is in the state. This file takes what the person asks; `steps.ts` goes on with what comes of it.
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
    case 'skip':
      return work(state, action, present);
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
      if (!['choosing', 'developer', 'stopped'].includes(state.phase)) return reduced(state);
      return reduced(state, { type: 'read', as: 'looked', tries: action.tries });
    case 'follow':
      if (['agent', 'candidates', 'simulator', 'grading'].includes(state.phase)) return reduced(state);
      return reduced(state, { type: 'follow' });
    case 'drafted-by':
      return reduced({ ...state, drafter: action.simulator });
    case 'offer':
      return reduced({ ...state, hasNext: action.hasNext, hasGuidelines: action.hasGuidelines });
    case 'close':
      return reduced({ ...state, isClosed: true }, { type: 'stop' }, { type: 'let-go' });
    default:
      return stepped(state, action, present);
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
  skip: ['to be skipped', 'choosing', 'developer', 'stopped'],
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
    // The form was not shown, so nobody gave this consent; a person changes it with the command for it.
    if (!asksConsent(state, given?.pseudonym)) return unfit(state, 'a consent that was not asked for');
    return reduced(state, { type: 'give-consent', consent });
  }
  if (given === undefined) return reduced(state);
  if (state.phase === 'choosing' || state.phase === 'developer') return takeSeatIfWanted(state, present);
  if (state.phase === 'ready' && present.agentName === '') return reduced(state);
  return work(state, { type: 'start' }, present);
}

/**
 * Sends the developer's reply to the agent's last message. A reply that gives the reference away is not sent at first:
 * the developer is warned, and may send it `anyway`.
 */
function reply(
  state: State,
  { draft, anyway }: Extract<Request, { type: 'reply' }>,
  present: Present,
): Reduced {
  if (takesReply(state, present) && anyway !== true) {
    const { reference } = state.task;
    const said = limitReply(draft.text, (state.protocol ?? present.protocol).replyLimit);
    const { fraction, leaked } = measureLeak(reference, said);
    const warning = { percent: Math.round(fraction * 100), passages: leakedPassages(reference, said) };
    if (leaked)
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
  phase === 'developer' &&
  (running === undefined || (running.isEnding === true && next === undefined)) &&
  consent !== undefined;

/** Gives the developer the seat back; a reply that the simulator is writing is dropped. */
function takeSeat(state: State, present: Present): Reduced {
  const { phase, seat } = state;
  if (phase === 'simulator') return reduced({ ...state, wantsSeat: true }, { type: 'stop' });
  if (seat !== 'simulator' || !['agent', 'candidates', 'stopped'].includes(phase))
    return unfit(state, 'the seat');
  const next = phase === 'stopped' && isCollaboratorsMove(state) ? 'developer' : phase;
  return takeSeatIfWanted({ ...state, wantsSeat: true, phase: next }, present);
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

/** Takes the agent's last message as its answer. A message that is being written is stopped first. */
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
