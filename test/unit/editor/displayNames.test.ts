import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Collaborator, NewEvent } from '../../../src/core/trajectory/event';
import { calledOf, modelsOf, namesOf, sharedCalled } from '../../../src/editor/displayNames';
import { replayOf } from '../../../src/editor/replay/view';
import { calledFilter } from '../../../src/editor/dialogue/filter';
import { answers, asks, scripted } from '../../fixtures/dialogue';
import { agentTurn, doubling, kim, openLog, reply, simulator, started } from '../../fixtures/log';
import { folded } from './folded';
import { ada, right, Stage } from './stage';
import { english } from './translate';

const names = new Map([
  ['openai:agent', 'Lab'],
  ['openai:rival', 'before'],
  ['openai:simulator', 'Helper'],
]);
const namer = {
  calledBy: (name: string) => names.get(name) ?? name,
  runOf: (agent: string) => (agent === 'local:a/model' ? { id: '7', name: 'Night run' } : undefined),
};

/** A developer whose pseudonym is a model's name. */
const spoof: Collaborator = { kind: 'developer', name: 'openai:simulator' };

it('has only the names that say something else', () => {
  const called = calledOf(['openai:agent', 'rules', 'openai:agent', ''], namer);
  expect(called).toEqual({ 'openai:agent': 'Lab' });
});

describe('a value that dialogues share', () => {
  it('is called by its name, but for packs and for people', async () => {
    const log = await openLog();
    await log.recordTask(doubling);
    await log.append(started('e', { collaborator: simulator }));
    expect(sharedCalled('openai:simulator', 'collaborator', log, namer)).toBe('Helper');
    expect(sharedCalled('openai:agent', 'agent', log, namer)).toBe('Lab');
    expect(sharedCalled('openai:agent', 'pack', log, namer)).toBe('openai:agent');
    await log.append({ event: 'consent', pseudonym: spoof.name, purpose: 'a test', level: 'export' });
    await log.append(started('f', { collaborator: spoof }));
    expect(sharedCalled('openai:simulator', 'collaborator', log, namer)).toBe('openai:simulator');
    expect(sharedCalled('openai:simulator', 'agent', log, namer)).toBe('Helper');
  });

  it('has a short name in a list, but where two would have the same one', () => {
    const models = ['starter', 'local:starter', 'openai:agent', 'local:runs/a/model', 'openai:qwen@http://h'];
    expect([...namesOf(models, 'agent', undefined, namer).values()]).toEqual([
      ...['starter', 'local:starter', 'Lab', 'a/model', 'qwen'],
    ]);
    expect(namesOf(['local:pack'], 'pack', undefined, namer).get('local:pack')).toBe('local:pack');
  });

  it('is shown so in a filter, which goes on to filter by what is logged', () => {
    const filter = { agent: 'openai:agent', collaborator: 'openai:simulator', stars: 3, pack: 'p.jsonl' };
    expect(calledFilter(filter, undefined, namer)).toEqual({
      ...{ agent: 'Lab', collaborator: 'Helper', stars: 3, pack: 'p.jsonl' },
    });
    expect(filter.agent).toBe('openai:agent');
    const ofRun = { run: '7', agents: new Set(['openai:agent', 'local:a/model']) };
    expect(calledFilter(ofRun, undefined, namer).run).toBe('Night run');
  });
});

describe('a replay', () => {
  /** Returns the replay as shown to ada. */
  function replayed(collaborator: Collaborator, events: readonly NewEvent[]) {
    return replayOf(folded(started('e', { collaborator }), ...events), 'ada', english, 'en');
  }

  it('names the agent and whoever has replied, has the seat or was given it', () => {
    const replay = replayed(kim, [
      agentTurn('e', 1),
      { event: 'hand-over', episode: 'e', turn: 1, to: simulator },
      reply('e', 1, simulator),
      agentTurn('e', 2),
    ]);
    expect(replay).toMatchObject({
      agent: 'openai:agent',
      collaborator: 'openai:simulator',
      seat: 'simulator',
    });
    expect(calledOf(modelsOf(replay), namer)).toEqual({
      ...{ 'openai:agent': 'Lab', 'openai:simulator': 'Helper' },
    });
  });
});

describe('a session', () => {
  let stage: Stage;

  beforeEach(async () => (stage = await Stage.set()));
  afterEach(() => stage.clear());

  it('names the models of the settings, and logs them as before', async () => {
    stage.simulator = {
      ...{ kind: 'simulator', name: 'openai:simulator' },
      reply: () => Promise.resolve({ text: 'Above 20.' }),
    };
    const session = await stage.begun(asks('How heavy?'), answers(right));
    const agent = stage.agentName;
    stage.names.set(agent, 'Lab').set('openai:simulator', 'Helper');
    expect(session.state.called).toEqual({ [agent]: 'Lab', 'openai:simulator': 'Helper' });
    await session.do({ type: 'simulator-once' });
    const { started: begun, turns } = await stage.trajectory(session.id);
    expect([begun.agent, turns[0]?.reply?.by]).toEqual([agent, 'openai:simulator']);
  });

  it('names the writers of candidates that are not of the settings only at the end', async () => {
    stage.showsCandidates = true;
    stage.agent = await scripted(stage.folder, [asks('How heavy?'), answers('x = 1')]);
    stage.secondAgent = await scripted(stage.folder, [asks('Which unit?'), answers('x = 2')]);
    const rival = stage.secondAgentName;
    stage.names.set(rival, 'before');
    const session = await stage.session();
    await session.do({ type: 'start', consent: ada });
    expect(session.state.called).toEqual({ [rival]: 'before' });
    await session.do({ type: 'choose', picked: 0 });
    stage.showsCandidates = false;
    expect(session.state).not.toHaveProperty('secondAgent');
    expect(session.state.called).toEqual({});
    await session.do({ type: 'skip', reason: 'Too hard' });
    expect(session.state.called).toEqual({ [rival]: 'before' });
  });
});
