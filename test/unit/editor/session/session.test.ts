import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answers, asks, scripted } from '../../../fixtures/dialogue';
import { hold } from '../../../fixtures/held-model';
import { ada, right, Stage } from '../stage';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.clear());

describe('a session of a new task', () => {
  it('logs nothing before the developer has agreed', async () => {
    const session = await stage.session();
    expect(session.state.phase).toBe('no-agent');
    stage.agent = await scripted(stage.folder, [asks('How heavy?')]);
    await session.do({ type: 'start' });
    expect(session.state).toMatchObject({
      phase: 'ready',
      consent: { purpose: expect.any(String) as string, level: 'local', folder: stage.dataFolder },
    });
    expect((await stage.log()).list({ offset: 0, limit: 1 }).total).toBe(0);
  });

  it('logs the consent once, before the dialogue', async () => {
    const session = await stage.begun(asks('How heavy?'));
    await (await stage.session()).do({ type: 'start' });
    expect((await stage.log()).consents).toEqual([expect.objectContaining(ada)]);
    expect(session.state).toMatchObject({ phase: 'developer', turn: 1, seat: 'developer' });
    expect(session.state.consent).toBeUndefined();
  });
});

describe('a dialogue that is interrupted', () => {
  it('can be stopped while the agent writes, and asked again', async () => {
    const agent = await scripted(stage.folder, [asks('How heavy?')]);
    stage.agent = hold(agent).model;
    const session = await stage.session();
    const starting = session.do({ type: 'start', consent: ada });
    await Stage.heard(session, 'agent');
    await session.do({ type: 'stop' });
    await starting;
    expect(session.state.phase).toBe('stopped');
    const { abandoned } = await stage.trajectory(session.id);
    expect(abandoned).toMatchObject({ reason: 'cancelled', message: session.state.notice?.message });
    stage.agent = agent;
    await session.do({ type: 'again' });
    expect(session.state).toMatchObject({ phase: 'developer', turn: 1 });
    expect(session.snapshot.turns).toHaveLength(1);
  });

  it('shows the limits that a dialogue was begun with, not those of the settings now', async () => {
    const before = await stage.begun(asks('How heavy?'));
    before.dispose();
    await before.settled();
    stage.protocol = { maxTurns: 3, replyLimit: 50 };
    expect((await stage.reloaded(before.id)).state).toMatchObject({ maxTurns: 10, replyLimit: 400 });
    expect((await stage.session()).state).toMatchObject({ maxTurns: 3, replyLimit: 50 });
  });

  it('asks again after a reload in the middle of the agent’s message', async () => {
    const agent = await scripted(stage.folder, [asks('How heavy?')]);
    stage.agent = hold(agent).model;
    const before = await stage.session();
    const starting = before.do({ type: 'start', consent: ada });
    await Stage.heard(before, 'agent');
    before.dispose();
    await starting;
    const session = await stage.reloaded(before.id);
    expect(session.state).toMatchObject({ phase: 'stopped', notice: { kind: 'information' } });
    expect((await stage.trajectory(before.id)).state).toBe('open');
    stage.agent = agent;
    await session.do({ type: 'again' });
    expect(session.state.phase).toBe('developer');
  });

  it('offers to grade an answer whose grade was never logged', async () => {
    const before = await stage.begun(asks('How heavy?'), answers(right));
    const grader = await stage.grader();
    stage.grader = () => Promise.reject(new Error('The grader is missing.'));
    await before.do({ type: 'reply', draft: { text: 'Above 20.' } });
    expect(before.state).toMatchObject({ phase: 'over', notice: { actions: ['grade', 'show-log'] } });
    const session = await stage.reloaded(before.id);
    expect(session.state.notice?.actions).toEqual(['grade']);
    stage.grader = () => Promise.resolve(grader);
    await session.do({ type: 'grade' });
    expect(session.state.grade?.verdict).toBe('passed');
  });
});
