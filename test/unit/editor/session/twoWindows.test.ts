import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Dialogue } from '../../../../src/core/dialogue/dialogue';
import { answers, asks, scripted, starterTask } from '../../../fixtures/dialogue';
import { hold } from '../../../fixtures/held-model';
import { kill, printed, program } from '../../trajectory/processes/start';
import { right, Stage } from '../stage';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.clear());

describe('a dialogue that is open in two windows', () => {
  const claimant = program('claim');

  /**
   * Makes a dialogue that waited for the developer when the window closed and that another process has claimed since.
   */
  const claimedByAnother = async () => {
    const here = await stage.begun(asks('How heavy?'));
    here.dispose();
    await here.settled();
    const child = claimant(stage.dataFolder, `episode-${here.id}`);
    onTestFinished(() => kill(child));
    await printed(child, /held/);
    return { here, child, restored: await stage.reloaded(here.id) };
  };

  const playedElsewhere = {
    phase: 'stopped',
    notice: {
      kind: 'warning',
      message: expect.stringMatching(/^This dialogue is being played by .* try again/) as string,
    },
  };

  it('is played in both; each goes on from what was said in the other', async () => {
    const here = await stage.begun(asks('How heavy?'), asks('Which zones?'), answers(right));
    const window = await stage.otherWindow();
    const there = await window.reloaded(here.id);
    await there.do({ type: 'look' });
    expect(there.state).toMatchObject({ phase: 'developer', turn: 1 });

    await here.do({ type: 'reply', draft: { text: 'Above 20.' } });
    await (await window.log()).refresh();
    await there.do({ type: 'follow' });
    expect(there.state).toMatchObject({ phase: 'developer', turn: 2 });
    expect(there.state.notice).toBeUndefined();
    expect(there.snapshot.turns).toMatchObject([
      { reply: { text: 'Above 20.' } },
      { visible: 'Which zones?' },
    ]);

    await there.do({ type: 'reply', draft: { text: '1, 2 and 3.' } });
    expect(there.state).toMatchObject({ phase: 'over', grade: { verdict: 'passed' } });
    await (await stage.log()).refresh();
    await here.do({ type: 'follow' });
    expect(here.state).toMatchObject({ phase: 'over', grade: { verdict: 'passed' } });
    expect(here.answer).toBe(there.answer);
    expect((await stage.trajectory(here.id)).grades).toHaveLength(1);
  });

  it('does not take what a person says to a message that the other window has answered, and says so', async () => {
    const here = await stage.begun(asks('How heavy?'), asks('Which zones?'), answers(right));
    const there = await (await stage.otherWindow()).reloaded(here.id);
    await here.do({ type: 'reply', draft: { text: 'Above 20.' } });
    const messages = Stage.messagesOf(there);
    await there.do({ type: 'reply', draft: { text: 'Above 30.' } });
    expect(there.state).toMatchObject({ phase: 'developer', turn: 2 });
    expect(there.state.notice?.message).toMatch(/^This dialogue was continued in another window/);
    // The view is told first that nothing was sent, so that it keeps the typed text.
    const told = messages.findIndex(({ type }) => type === 'state');
    expect(messages[told]).toMatchObject({ state: { notice: there.state.notice } });
    expect(told).toBeLessThan(messages.findIndex(({ type }) => type === 'turn'));
    await here.do({ type: 'skip', reason: 'Too easy' });
    await there.do({ type: 'end-now' });
    expect(there.state.phase).toBe('skipped');
    const { turns, state } = await stage.trajectory(here.id);
    expect(turns.map(({ reply }) => reply?.text)).toEqual(['Above 20.', undefined]);
    expect(state).toBe('abandoned');
  });

  it('is only shown while it is played in the other, and goes on when it is asked again after that', async () => {
    const here = await stage.begun(asks('How heavy?'), asks('Which zones?'), answers(right));
    stage.agent = hold(await scripted(stage.folder, [asks('How heavy?'), asks('Which zones?')])).model;
    const there = await (await stage.otherWindow()).reloaded(here.id);
    const replying = here.do({ type: 'reply', draft: { text: 'Above 20.' } });
    await Stage.heard(here, 'agent');
    await there.do({ type: 'look' });
    expect(there.state).toMatchObject(playedElsewhere);
    for (const press of [
      () => there.do({ type: 'again' }),
      () => there.do({ type: 'skip', reason: 'Too easy' }),
      () => there.do({ type: 'take-seat' }),
    ]) {
      await press();
      expect(there.state).toMatchObject(playedElsewhere);
    }
    await here.do({ type: 'stop' });
    await replying;
    stage.agent = await scripted(stage.folder, [asks('How heavy?'), asks('Which zones?'), answers(right)]);
    await here.do({ type: 'again' });
    await there.do({ type: 'again' });
    expect(there.state).toMatchObject({ phase: 'developer', turn: 2 });
    expect(there.state.notice).toBeUndefined();
  });

  it('is claimed by nobody while a person thinks', async () => {
    const claims = (): Promise<string[]> => readdir(path.join(stage.dataFolder, 'claims'));
    const here = await stage.begun(asks('How heavy?'), answers(right));
    expect(await claims()).toEqual([]);
    await here.do({ type: 'skip', reason: 'Too easy' });
    await here.do({ type: 'again' });
    expect(here.state.phase).toBe('developer');
    expect(await claims()).toEqual([]);
    await here.do({ type: 'reply', draft: { text: 'Above 20.' } });
    expect(await claims()).toEqual([]);
    const { turns } = await stage.trajectory(here.id);
    expect(turns).toHaveLength(2);
  });

  it('names the process that plays it, and is taken over as soon as that is gone', async () => {
    const { here, child, restored } = await claimedByAnother();
    await restored.do({ type: 'reply', draft: { text: 'Above 20.' } });
    expect(restored.state).toMatchObject(playedElsewhere);
    expect(restored.state.notice?.message).toContain(`process ${child.process.pid} on `);
    expect((await stage.trajectory(here.id)).turns[0]?.reply).toBeUndefined();
    const held = restored.do({ type: 'look', tries: 1000 });
    await kill(child);
    await held;
    expect(restored.state).toMatchObject({ phase: 'developer', turn: 1 });
    expect(restored.state.notice).toBeUndefined();
  });

  it('is only shown while a command plays the collection that it belongs to', async () => {
    stage.agent = await scripted(stage.folder, [asks('How heavy?')]);
    const log = await stage.log();
    const { agent, sampling, protocol } = stage;
    const { id } = await Dialogue.start({
      ...{ log, agent, sampling, protocol, seed: 0, collection: 'nightly' },
      ...{ prompts: await stage.prompts(), task: await starterTask() },
      collaborator: { kind: 'developer', name: 'ada' },
    });
    const child = claimant(stage.dataFolder, 'collection-nightly');
    onTestFinished(() => kill(child));
    await printed(child, /held/);
    const session = await stage.reloaded(id);
    await session.do({ type: 'look' });
    const message = expect.stringContaining('The collection of this dialogue is being played by') as string;
    expect(session.state).toMatchObject({ phase: 'stopped', notice: { message } });
    await kill(child);
    await session.do({ type: 'again' });
    expect(session.state).toMatchObject({ phase: 'developer', turn: 1 });
  });
});
