import { describe, expect, it } from 'vitest';
import { Fault } from '../../../../src/core/fault';
import { ownTask } from '../../../../src/core/task/own';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import {
  type Action,
  type Effect,
  type Logged,
  type Present,
  loggedState,
  newState,
  type State,
  type WorkRequest,
} from '../../../../src/editor/session/state';
import { reduce } from '../../../../src/editor/session/reducer';
import { agentTurn, answered, candidates, doubling, kim, reply, started } from '../../../fixtures/log';
import { folded } from '../folded';
import { right } from '../stage';
import { english } from '../translate';

export const present: Present = {
  t: english,
  at: 5000,
  consent: { pseudonym: 'kim', purpose: 'a test', level: 'local' },
  agentName: 'openai:agent',
  connected: { agent: false, simulator: false },
  showsCandidates: false,
  protocol: { maxTurns: 10, replyLimit: 400 },
};
export const nobody = { ...present, consent: undefined };

export { folded as trajectory };

export const rests = (...events: readonly NewEvent[]): State => ({
  ...{ ...newState(doubling), ...loggedState(folded(...events), 'kim', english) },
});
export const working = (state: State, request: WorkRequest, more: Partial<State> = {}): State => ({
  ...{ ...state, work: { request, before: state.phase }, ...more },
});
/** Returns a state whose work is over, but for what is being put away. */
export const putAway = (state: State, request: WorkRequest): State => ({
  ...{ ...state, work: { request, before: state.phase, isDone: true, isEnding: true } },
});

export const byKim = started('e', { collaborator: kim });
export const asked = [byKim, agentTurn('e', 1)];
export const abandoned = (reason: 'skipped' | 'failed' | 'cancelled'): NewEvent => ({
  ...{ event: 'abandoned', episode: 'e', reason, message: 'Too hard' },
});
export const ended = [...asked, answered('e', 1)];

export const ready = newState(doubling);
/** The developer is to reply to the agent's first message, which came four seconds ago. */
export const developer: State = { ...rests(...asked), agentSpokeAt: 1000 };
export const choosing = rests(byKim, candidates('e', 1));
export const stopped = rests(byKim, agentTurn('e', 1), reply('e', 1, kim), abandoned('failed'));
export const skipped = rests(...asked, abandoned('skipped'));
export const over = rests(...ended);
export const simulated = rests(started('e'), agentTurn('e', 1));
export const own: State = { ...over, task: ownTask('Doubles a number.', 'def double(x):') };

/** The developer is to reply about a task whose reference is long enough to be given away. */
export const knowing: State = {
  ...developer,
  task: { ...doubling, reference: right },
};

export const text = { type: 'reply', draft: { text: 'Above 20.' } } as const;
export const replying = working(developer, text);
export const agentWrites = working({ ...stopped, phase: 'agent' }, { type: 'again' });
export const simulatorWrites = working({ ...simulated, phase: 'simulator' }, { type: 'simulator-on' });
/** The agent's message is in the log, and the claim of the dialogue is being released. */
export const agentSaid = putAway(developer, { type: 'again' });
export const grading = working({ ...over, phase: 'grading' }, { type: 'grade' });

/** Returns a dialogue after a step; whose move it is follows from its events. */
export function step(next: Logged['next'], ...events: readonly NewEvent[]): Logged {
  const { episode, playedBy, turns, candidates: waiting, answer } = rests(...events);
  return { episode, protocol: present.protocol, playedBy, turns, candidates: waiting, answer, next };
}

export const failure = (error: unknown, more: Partial<Extract<Action, { type: 'failed' }>> = {}): Action => ({
  ...{ type: 'failed', error, isStopped: false, isAside: false, episode: 'e', ...more },
});
export const gone = new Fault('model/unreachable', 'The server is gone.');
export const elsewhere = new Fault('trajectory/claimed', 'This dialogue is being played by process 7.');
export const stop = failure(new DOMException('Stopped.', 'AbortError'), { isStopped: true });

export interface Case {
  readonly when: string;
  readonly state: State;
  readonly action?: Action;
  readonly present?: Present;
  /** Part of the state that follows; nothing means that the state is the same. */
  readonly becomes?: object;
  /** Effects by their kinds, or as a whole. */
  readonly effects?: readonly (Effect['type'] | object)[];
}

export const information = (message: RegExp): object => ({
  ...{ kind: 'information', message: expect.stringMatching(message) as string },
});

/** Makes any change of the state by the reducer throw. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

/** Runs each case of a table; the reducer must not change what it is given, and give the same twice. */
export function runCases(cases: Readonly<Record<string, readonly Case[]>>): void {
  describe.each(Object.entries(cases))('the action “%s”', (type, rows) => {
    it.each(rows)('when $when', ({ state, action, present: now = present, becomes, effects = [] }) => {
      const acting = action ?? ({ type } as Action);
      const reduced = reduce(frozen(state), acting, now);
      if (becomes === undefined) expect(reduced.state).toEqual(state);
      else expect(reduced.state).toMatchObject(becomes);
      expect(reduced.effects).toMatchObject(
        effects.map((effect) => (typeof effect === 'string' ? { type: effect } : effect)),
      );
      expect(reduce(state, acting, now)).toEqual(reduced);
    });
  });
}
