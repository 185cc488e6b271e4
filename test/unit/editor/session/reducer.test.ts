import { NO_PREFERENCE } from '../../../../src/core/dialogue/protocol';
import type { Request } from '../../../../src/editor/session/state';
import { graded } from '../../../fixtures/log';
import { right } from '../stage';
import {
  type Case,
  agentSaid,
  agentWrites,
  ended,
  simulated,
  choosing,
  developer,
  information,
  knowing,
  nobody,
  over,
  own,
  present,
  putAway,
  ready,
  rests,
  runCases,
  simulatorWrites,
  skipped,
  stopped,
  text,
  working,
} from './cases';

const refused = { effects: ['report'] } as const;

/** What comes of what a person can ask. */
const cases: Readonly<Partial<Record<Request['type'], readonly Case[]>>> = {
  start: [
    { when: 'nobody has agreed', state: ready, present: nobody },
    {
      ...{ when: 'a consent comes that no form asked for', state: ready, ...refused },
      action: { type: 'start', consent: { ...present.consent!, level: 'export' } },
    },
    {
      ...{ when: 'everything is there', state: ready },
      becomes: { phase: 'agent', work: { request: { type: 'start' }, before: 'ready' } },
      effects: [{ type: 'begin', by: 'kim' }],
    },
    { when: 'the dialogue is over', state: over, ...refused },
    {
      ...{
        when: 'the seat waited for the consent',
        state: { ...developer, seat: 'simulator', wantsSeat: true },
      },
      becomes: { wantsSeat: false },
      effects: [{ type: 'take-seat', by: 'kim' }],
    },
  ],
  reply: [
    {
      ...{ when: 'it is the developer’s turn', state: { ...developer, notice: over.notice }, action: text },
      becomes: { notice: undefined, work: { request: text, before: 'developer', milliseconds: 4000 } },
      effects: ['read'],
    },
    {
      ...{ when: 'the reply gives the reference away', state: knowing },
      action: { type: 'reply', draft: { text: right } },
      becomes: { warning: { percent: 100 }, work: undefined },
      effects: [{ type: 'tell', message: { type: 'leak-warning' } }],
    },
    {
      ...{ when: 'it shall be sent anyway', state: knowing },
      action: { type: 'reply', draft: { text: right }, anyway: true },
      becomes: { warning: undefined },
      effects: ['read'],
    },
    {
      ...{
        when: 'something else is under way',
        state: working(developer, { type: 'suggest' }),
        action: text,
      },
      becomes: { notice: information(/^Your reply was not sent/) },
      effects: ['report', { type: 'tell', message: { type: 'not-sent' } }],
    },
    {
      ...{ when: 'nobody has agreed', state: developer, action: text, present: nobody },
      effects: ['report', 'tell'],
      becomes: { work: undefined },
    },
  ],
  'dont-mind': [
    {
      ...{ when: 'it is the developer’s turn', state: developer, effects: ['read'] },
      becomes: { work: { request: { draft: { text: NO_PREFERENCE } } } },
    },
  ],
  edited: [
    {
      when: 'the developer was warned',
      state: { ...developer, warning: { percent: 90, passages: [] } },
      becomes: { warning: undefined },
    },
  ],
  choose: [
    {
      ...{ when: 'candidates wait', state: choosing, action: { type: 'choose', picked: 1 } },
      becomes: { work: { request: { picked: 1 } } },
      effects: ['read'],
    },
    { when: 'nobody has agreed', state: choosing, action: { type: 'choose', picked: 1 }, present: nobody },
    { when: 'none wait', state: developer, action: { type: 'choose', picked: 1 }, ...refused },
  ],
  suggest: [
    { when: 'the developer is to reply', state: developer, becomes: {}, effects: ['read'] },
    { when: 'the agent writes', state: agentWrites, ...refused },
  ],
  'another-sample': [{ when: 'the developer is to reply', state: developer, becomes: {}, effects: ['read'] }],
  'simulator-once': [{ when: 'the developer is to reply', state: developer, becomes: {}, effects: ['read'] }],
  'simulator-on': [{ when: 'the developer is to reply', state: developer, becomes: {}, effects: ['read'] }],
  'take-seat': [
    { when: 'the simulator writes', state: simulatorWrites, becomes: { wantsSeat: true }, effects: ['stop'] },
    {
      ...{
        when: 'the agent writes',
        state: working({ ...simulated, phase: 'agent' }, { type: 'simulator-on' }),
      },
      becomes: { phase: 'agent', wantsSeat: false },
      effects: [{ type: 'take-seat', by: 'kim' }],
    },
    { when: 'the developer has it', state: developer, ...refused },
  ],
  stop: [{ when: 'the agent writes', state: agentWrites, effects: ['stop'] }],
  again: [
    { when: 'the agent has failed', state: stopped, becomes: { notice: undefined }, effects: ['read'] },
    { when: 'the task was skipped', state: skipped, becomes: {}, effects: ['read'] },
    {
      ...{ when: 'it was skipped this very moment', becomes: { next: { type: 'again' } } },
      state: putAway(skipped, { type: 'skip', reason: 'Too hard' }),
    },
    { when: 'nothing has failed', state: developer, ...refused },
  ],
  'may-end': [
    { when: 'the agent has said something', state: developer },
    {
      ...{ when: 'candidates wait', state: choosing },
      becomes: { notice: information(/^Choose one of the two first/) },
    },
    { when: 'nothing is said', state: ready, ...refused },
  ],
  'end-now': [
    { when: 'the developer is to reply', state: developer, becomes: {}, effects: ['read'] },
    {
      when: 'the agent writes',
      state: agentWrites,
      becomes: { next: { type: 'end-now' } },
      effects: ['stop'],
    },
    { when: 'its message was just logged', state: agentSaid, becomes: { next: { type: 'end-now' } } },
    { when: 'candidates wait', state: choosing, becomes: { phase: 'choosing', work: undefined } },
    { when: 'the dialogue is over', state: over, ...refused },
  ],
  skip: [
    ...[choosing, developer, stopped].map((state) => ({
      ...{ when: state.phase, state, action: { type: 'skip', reason: 'Too hard' } as const },
      ...{ becomes: { work: { before: state.phase } }, effects: ['read'] as const },
    })),
    { when: 'skipped', state: skipped, action: { type: 'skip', reason: 'Too hard' }, ...refused },
    {
      ...{ when: 'nobody has agreed', state: stopped, present: nobody, ...refused },
      action: { type: 'skip', reason: 'Too hard' },
    },
  ],
  grade: [
    { when: 'there is no grade', state: over, becomes: { notice: undefined }, effects: ['read'] },
    { when: 'there is one', state: rests(...ended, graded('e', 1)), ...refused },
    { when: 'the function is the developer’s own', state: own, ...refused },
    { when: 'there is no answer', state: developer, ...refused },
  ],
  rate: [
    {
      ...{ when: 'the dialogue is logged', state: over, action: { type: 'rate', change: { stars: 4 } } },
      effects: [{ type: 'rate', request: { change: { stars: 4 } }, by: 'kim' }],
    },
    { when: 'it has not begun', state: ready, action: { type: 'rate', change: { stars: 4 } }, ...refused },
    {
      ...{ when: 'nobody has agreed', state: over, action: { type: 'rate', change: { stars: 4 } } },
      ...{ present: nobody, ...refused },
    },
  ],
  'rate-turn': [
    {
      ...{ when: 'the turn is there', state: over, effects: ['rate'] },
      action: { type: 'rate-turn', turn: 1, change: { thumb: 'up' } },
    },
    {
      ...{ when: 'it is not', state: over, ...refused },
      action: { type: 'rate-turn', turn: 2, change: { thumb: 'up' } },
    },
    {
      ...{ when: 'nobody has agreed', state: over, present: nobody, ...refused },
      action: { type: 'rate-turn', turn: 1, change: { thumb: 'up' } },
    },
  ],
  look: [{ when: 'the developer is to reply', state: developer, effects: [{ type: 'read', as: 'looked' }] }],
  follow: [
    { when: 'a person thinks', state: developer, effects: ['follow'] },
    { when: 'the agent writes', state: agentWrites },
  ],
  close: [
    {
      when: 'the agent writes',
      state: agentWrites,
      becomes: { isClosed: true },
      effects: ['stop', 'let-go'],
    },
  ],
};

runCases(cases);
