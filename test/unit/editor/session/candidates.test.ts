import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Session } from '../../../../src/editor/session/session';
import { answers, asks, scripted } from '../../../fixtures/dialogue';
import { Stage } from '../stage';

const ada = { pseudonym: 'ada', purpose: 'a test', level: 'export' } as const;

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set();
  stage.showsCandidates = true;
  stage.agent = await scripted(stage.folder, [asks('How heavy?'), asks('Which zones?'), answers('x = 1')]);
  stage.secondAgent = await scripted(stage.folder, [
    asks('Which unit?'),
    asks('How much?'),
    answers('x = 2'),
  ]);
});
afterEach(() => stage.clear());

async function begun(): Promise<Session> {
  const session = await stage.session();
  await session.do({ type: 'start', consent: ada });
  return session;
}

/** Returns the texts of the two candidates. */
function shown({ snapshot }: Session): string[] {
  const { candidates } = snapshot;
  if (candidates === undefined) throw new Error('No candidates wait for a choice.');
  return candidates.map(({ visible }) => visible);
}

describe('a session with two candidates', () => {
  it('shows neither before both are written: the faster model would give itself away', async () => {
    stage.agent = await scripted(stage.folder, [asks('How heavy is it?')]);
    stage.secondAgent = await scripted(stage.folder, [asks('Which unit is it?')], 60);
    const session = await stage.session();
    const messages = Stage.messagesOf(session);
    await session.do({ type: 'start', consent: ada });
    const whileWritten = messages.slice(
      0,
      messages.findIndex(({ type }) => type === 'candidates'),
    );
    expect(
      whileWritten.flatMap((message) => (message.type === 'state' ? message.state.phase : [])),
    ).toContain('candidates');
    expect(JSON.stringify(whileWritten)).not.toMatch(/How heavy is it|Which unit is it/);
    expect(messages.filter(({ type }) => type === 'stream')).toEqual([]);
    expect(session.state.phase).toBe('choosing');
    expect(shown(session).sort()).toEqual(['How heavy is it?', 'Which unit is it?']);
    expect(session.snapshot.turns).toEqual([]);
  });

  it('goes on with the one that was chosen, and says who wrote which only when the dialogue is over', async () => {
    const session = await begun();
    const [, b] = shown(session);
    await session.do({ type: 'choose', picked: 1 });
    expect(session.state.phase).toBe('developer');
    expect(session.snapshot).not.toHaveProperty('candidates');
    const [turn] = session.snapshot.turns;
    expect(turn).toMatchObject({ visible: b, choices: [{ picked: 1 }] });
    expect(JSON.stringify(session.snapshot.turns)).not.toContain('script:');
    for (const text of ['Over 20.', 'One to three.']) {
      await session.do({ type: 'reply', draft: { text } });
      await session.do({ type: 'choose', picked: 'equal' });
    }
    expect(session.state.phase).toBe('over');
    const names = session.snapshot.turns[0]!.choices![0]!.agents;
    expect([...names!].sort()).toEqual([stage.agent!.name, stage.secondAgent!.name].sort());
    const { turns } = await stage.trajectory(session.id);
    expect(turns.flatMap(({ candidates }) => candidates!.map(({ choice }) => choice))).toMatchObject([
      { picked: 1, by: 'ada' },
      { picked: 'equal' },
      { picked: 'equal' },
    ]);
    expect((await stage.reloaded(session.id)).snapshot.turns).toEqual(session.snapshot.turns);
  });

  it('has both written anew when neither will do, and keeps the same turn', async () => {
    const session = await begun();
    await session.do({ type: 'choose', picked: 'neither' });
    expect(session.state).toMatchObject({ phase: 'choosing', turn: 1 });
    await session.do({ type: 'choose', picked: 0 });
    expect(session.snapshot.turns[0]?.choices?.map(({ picked }) => picked)).toEqual(['neither', 0]);
  });

  it('shows one message while the simulator has the seat', async () => {
    const session = await begun();
    await session.do({ type: 'choose', picked: 0 });
    await session.do({ type: 'simulator-on' });
    expect(session.state.phase).toBe('over');
    const { turns } = await stage.trajectory(session.id);
    expect(turns.map(({ candidates }) => candidates !== undefined)).toEqual([true, false, false]);
  });

  it('shows the same two after a reload, with whatever settings, and loses no turn', async () => {
    const session = await begun();
    await session.do({ type: 'choose', picked: 0 });
    await session.do({ type: 'reply', draft: { text: 'Over 20.' } });
    const before = shown(session);
    session.dispose();
    await session.settled();
    stage.showsCandidates = false;
    const again = await stage.reloaded(session.id);
    await again.do({ type: 'look' });
    expect(again.state.phase).toBe('choosing');
    expect(shown(again)).toEqual(before);
    await again.do({ type: 'choose', picked: 1 });
    expect(again.snapshot.turns[1]?.visible).toBe(before[1]);
    expect(again.state.phase).toBe('developer');
  });
});
