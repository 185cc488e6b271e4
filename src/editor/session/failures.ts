import type { StreamView } from '../../../webview/session/protocol';
import type { Fault } from '../../core/fault';
import { stoppedWords } from '../reasons';
import { english } from '../translate';
import {
  type Effect,
  type Present,
  type Reduced,
  type Result,
  isCollaboratorsMove,
  type State,
  type Work,
} from './state';
import { failureLogged, isPlayedElsewhere, noticeOf, notices } from './notices';

type Failure = Extract<Result, { type: 'failed' }>;

/** Tells the page, which waits for the reply, that it is not in the log. */
export function notSent(state: State, { t }: Present, effects: readonly Effect[] = []): Reduced {
  const notice = ['developer', 'asking'].includes(state.phase)
    ? (state.notice ?? notices.notSent(t))
    : state.notice;
  return {
    state: { ...state, notice },
    effects: [...effects, { type: 'tell', message: { type: 'not-sent' } }],
  };
}

/** The log gets an entry where the dialogue cannot continue, and the person decides. */
export function workFailed(before: State, work: Work, failure: Failure, present: Present): Reduced {
  const { t } = present;
  const { error, isStopped, episode } = failure;
  const { phase: during, seat, wantsSeat } = before;
  const awaitsReply = isCollaboratorsMove(before);
  const isSimulators = seat === 'agent' || (during !== 'agent' && (during === 'simulator' || awaitsReply));
  const party = isSimulators ? 'simulator' : 'agent';
  const isGrading = during === 'grading' || work.before === 'over';
  const notice = isStopped ? before.notice : noticeOf(error, isGrading ? 'grader' : party, present);
  const stream = wantsSeat ? undefined : partial(before.stream, isStopped ? 'stopped' : 'failed');
  const state = { ...before, episode, notice, stream, isSuggesting: false };
  // The panel was closed: the dialogue stays open in the log, as after a reload.
  if (state.isClosed) return { state, effects: [] };
  if (isPlayedElsewhere(error)) return elsewhere(state, error, work.before);
  const effects: readonly Effect[] = isStopped ? [] : [{ type: 'report', error }];
  if (isGrading)
    return { state: { ...state, phase: 'over', notice: notice ?? notices.notGraded(t) }, effects };
  if (episode === undefined) return { state: { ...state, phase: 'ready' }, effects };
  if (during === 'asking') return { state: { ...state, phase: 'asking' }, effects };
  if (wantsSeat || (seat === 'developer' && awaitsReply)) {
    const isSample = isStopped && during === 'agent' && awaitsReply;
    const next = isSample ? { ...state, notice: notices.sampleStopped(t) } : state;
    return { state: { ...next, phase: 'developer' }, effects };
  }
  const stopped = { ...state, phase: work.before === 'skipped' ? work.before : 'stopped' } as const;
  const abandon: Effect = isStopped
    ? { type: 'abandon', reason: 'cancelled', message: stoppedWords(party, english) }
    : { type: 'abandon', reason: 'failed', message: failureLogged(error) };
  return {
    state: isStopped && stream === undefined ? { ...stopped, notice: notices.stopped(t, party) } : stopped,
    effects: [...effects, abandon],
  };
}

function partial(stream: StreamView | undefined, ended: 'stopped' | 'failed'): StreamView | undefined {
  if (stream === undefined || stream.text.length + stream.thinking === 0) return undefined;
  return { ...stream, retrying: undefined, ended };
}

/** Tells the person of a failure that leaves the move as it is: no step of the work has failed. */
export function failedAside(state: State, error: unknown, present: Present): Reduced {
  const { work, phase } = state;
  const end: Effect[] = work === undefined ? [{ type: 'let-go' }] : [];
  if (work?.isEnding === true) end.push({ type: 'finish' });
  if (isPlayedElsewhere(error)) return elsewhere(state, error, phase, ...end);
  return {
    state: { ...state, notice: noticeOf(error, 'agent', present) },
    effects: [{ type: 'report', error }, ...end],
  };
}

/** Shows a dialogue that is played elsewhere; nothing can be done here but to ask again. */
function elsewhere(state: State, fault: Fault, before: State['phase'], ...end: readonly Effect[]): Reduced {
  const notice = notices.elsewhere(fault.message, before === 'over');
  const phase = before === 'over' || before === 'skipped' ? before : 'stopped';
  return {
    state: { ...state, wantsSeat: false, notice, phase },
    effects: [{ type: 'report', error: fault }, ...end],
  };
}
