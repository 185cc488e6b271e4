import { Fault } from '../../../../src/core/fault';
import type { Result } from '../../../../src/editor/session/state';
import { kim, reply } from '../../../fixtures/log';
import {
  type Case,
  abandoned,
  agentSaid,
  agentWrites,
  asked,
  developer,
  ended,
  failure,
  gone,
  grading,
  information,
  over,
  own,
  present,
  replying,
  runCases,
  simulatorWrites,
  ready,
  step,
  stop,
  stopped,
  text,
  trajectory,
  working,
} from './cases';

const half = { by: 'agent', text: 'Half of', thinking: 0 } as const;

/** What follows from what can come of an effect, where no test on a real log shows it. */
const cases: Readonly<Partial<Record<Result['type'], readonly Case[]>>> = {
  'caught-up': [
    {
      ...{ when: 'nothing has happened elsewhere', state: replying, becomes: { phase: 'developer' } },
      action: { type: 'caught-up', trajectory: trajectory(...asked) },
      effects: [{ type: 'reply', draft: text.draft, by: 'kim' }],
    },
    {
      ...{ when: 'the seat is taken first', state: { ...replying, seat: 'simulator', wantsSeat: true } },
      action: { type: 'caught-up', trajectory: trajectory(...asked) },
      ...{ becomes: { wantsSeat: false }, effects: ['take-seat'] },
    },
    ...(
      [
        [{ type: 'suggest' }, ['suggest'], { isSuggesting: true }],
        [{ type: 'simulator-once' }, ['ask-simulator'], { phase: 'simulator' }],
        [{ type: 'simulator-on' }, ['give-seat'], { seat: 'developer' }],
        [{ type: 'end-now' }, ['end'], {}],
        [{ type: 'another-sample' }, ['attach'], {}],
        [{ type: 'skip', reason: 'Too hard' }, ['abandon', { type: 'read', as: 'read', isAnew: true }], {}],
      ] as const
    ).map(([request, effects, becomes]) => ({
      ...{ when: `the developer wants “${request.type}”`, state: working(developer, request) },
      action: { type: 'caught-up', trajectory: trajectory(...asked) } as const,
      ...{ becomes: { work: { request }, ...becomes }, effects },
    })),
  ],
  read: [
    {
      ...{ when: 'another window has gone on', state: working(stopped, { type: 'again' }) },
      action: { type: 'read', trajectory: trajectory(...asked) },
      ...{ becomes: { phase: 'developer' }, effects: ['finish'] },
    },
    {
      ...{ when: 'the task was skipped', state: working(developer, { type: 'skip', reason: 'Too hard' }) },
      action: { type: 'read', trajectory: trajectory(...asked, abandoned('skipped')) },
      ...{ becomes: { phase: 'skipped', notice: information(/Too hard$/) }, effects: ['finish'] },
    },
  ],
  looked: [
    {
      ...{ when: 'a person thinks', state: { ...developer, phase: 'stopped' } },
      action: { type: 'looked', trajectory: trajectory(...asked) },
      ...{ becomes: { phase: 'developer' }, effects: ['let-go'] },
    },
    { when: 'work has begun', state: replying, action: { type: 'looked', trajectory: trajectory(...ended) } },
  ],
  followed: [
    {
      ...{ when: 'the other window plays it', state: developer },
      action: { type: 'followed', trajectory: trajectory(...asked, reply('e', 1, kim)) },
      ...{ becomes: { phase: 'stopped' }, effects: ['forget', { type: 'read', as: 'looked' }] },
    },
    {
      when: 'nothing is new',
      state: developer,
      action: { type: 'followed', trajectory: trajectory(...asked) },
    },
  ],
  logged: [
    {
      when: 'candidates are wanted, but the function is the developer’s own',
      state: { ...replying, task: own.task },
      present: { ...present, showsCandidates: true },
      action: { type: 'logged', dialogue: step('agent', ...asked, reply('e', 1, kim)) },
      ...{ becomes: { phase: 'agent' }, effects: ['ask-agent'] },
    },
    {
      ...{ when: 'both look alike', state: { ...agentWrites, phase: 'candidates' }, effects: ['finish'] },
      action: { type: 'logged', by: 'agent', dialogue: step('collaborator', ...asked) },
      becomes: { phase: 'developer', notice: information(/nothing to choose/) },
    },
  ],
  seated: [
    {
      ...{ when: 'a reply waited for it', state: { ...replying, seat: 'simulator' }, effects: ['reply'] },
      action: { type: 'seated', seat: 'developer', dialogue: step('collaborator', ...asked) },
      becomes: { seat: 'developer' },
    },
  ],
  suggested: [
    {
      ...{
        when: 'a reply is drafted',
        state: working(developer, { type: 'suggest' }, { isSuggesting: true }),
      },
      action: { type: 'suggested', suggestion: { text: 'Above 20.', by: 'rules' } },
      becomes: { isSuggesting: false, drafter: 'rules', phase: 'developer' },
      effects: [{ type: 'tell', message: { type: 'suggestion' } }, 'finish'],
    },
  ],
  failed: [
    {
      ...{ when: 'the agent’s server is gone', state: agentWrites, action: failure(gone) },
      becomes: { phase: 'stopped', notice: { kind: 'error', actions: ['choose-agent'] } },
      effects: ['report', { type: 'abandon', reason: 'failed', message: 'The server is gone.' }, 'finish'],
    },
    {
      ...{ when: 'the agent is stopped', state: agentWrites, action: stop },
      becomes: { phase: 'stopped', notice: information(/^The agent was stopped/) },
      effects: [{ type: 'abandon', reason: 'cancelled' }, 'finish'],
    },
    {
      when: 'the agent is stopped in the middle of its message',
      state: { ...agentWrites, notice: undefined, stream: half },
      action: stop,
      becomes: { phase: 'stopped', notice: undefined, stream: { text: 'Half of', ended: 'stopped' } },
      effects: [{ type: 'abandon', reason: 'cancelled' }, 'finish'],
    },
    {
      when: 'the agent’s server breaks off for good',
      state: { ...agentWrites, stream: { ...half, retrying: { number: 5, of: 5, why: 'connection' } } },
      action: failure(gone),
      becomes: {
        notice: { kind: 'error' },
        stream: { text: 'Half of', ended: 'failed', retrying: undefined },
      },
      effects: ['report', { type: 'abandon', reason: 'failed' }, 'finish'],
    },
    {
      ...{
        when: 'the developer wants the seat',
        state: { ...simulatorWrites, wantsSeat: true },
        action: stop,
      },
      becomes: { phase: 'developer', wantsSeat: false },
      effects: ['take-seat', 'finish'],
    },
    {
      ...{ when: 'the simulator fails to draft', state: working(developer, { type: 'suggest' }) },
      action: failure(gone),
      becomes: { phase: 'developer', isSuggesting: false, notice: { actions: ['choose-simulator'] } },
      effects: ['report', 'finish'],
    },
    {
      when: 'the other sample is stopped',
      state: { ...working(developer, { type: 'another-sample' }), phase: 'agent' },
      action: stop,
      becomes: { phase: 'developer', notice: information(/Its message from before stands/) },
      effects: ['finish'],
    },
    {
      // An answered dialogue is never logged as abandoned.
      ...{ when: 'an answer cannot be graded here', state: working(over, { type: 'grade' }) },
      action: failure(new Fault('editor/restricted', 'Nothing is graded here.')),
      becomes: { phase: 'over', notice: { actions: ['manage-trust'] } },
      effects: ['report', 'finish'],
    },
    {
      when: 'the dialogue could not begin',
      state: working({ ...ready, phase: 'agent' }, { type: 'start' }),
      action: failure(gone, { episode: undefined }),
      ...{ becomes: { phase: 'ready' }, effects: ['report', 'finish'] },
    },
    {
      ...{ when: 'a rating cannot be logged meanwhile', state: agentWrites, effects: ['report'] },
      action: failure(gone, { isAside: true }),
      becomes: { phase: 'agent', notice: { kind: 'error' }, work: agentWrites.work },
    },
  ],
  finished: [
    {
      when: 'a message was stopped, which stays in sight',
      state: { ...agentWrites, stream: { ...half, ended: 'stopped' } },
      becomes: { work: undefined, stream: { text: 'Half of' } },
    },
    {
      ...{ when: 'the reply is in the log', action: { type: 'finished' }, becomes: { work: undefined } },
      state: { ...replying, work: { ...replying.work!, isDone: true } },
    },
    {
      ...{ when: 'the reply is not', state: replying, action: { type: 'finished' } },
      becomes: { work: undefined, notice: information(/^Your reply was not sent/) },
      effects: [{ type: 'tell', message: { type: 'not-sent' } }],
    },
    {
      ...{ when: 'the end was wanted', state: { ...agentSaid, next: { type: 'end-now' } } },
      becomes: { next: undefined, work: { request: { type: 'end-now' } } },
      effects: ['read'],
    },
    {
      ...{ when: 'a reply was sent meanwhile', state: { ...agentSaid, next: text }, effects: ['read'] },
      becomes: { next: undefined, work: { request: text, milliseconds: 4000 } },
    },
    {
      ...{
        when: 'the agent ended it itself',
        state: { ...grading, phase: 'over', next: { type: 'end-now' } },
      },
      becomes: { next: undefined, work: undefined },
    },
  ],
};

runCases(cases);
