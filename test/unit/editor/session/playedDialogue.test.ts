import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../fixtures/eventually';
import { OpenAiModel } from '../../../../src/core/model/openai';
import { startChatServer } from '../../../fixtures/chat-server';
import { answer } from '../../../fixtures/chat-server-replies';
import { answers, asks, scripted } from '../../../fixtures/dialogue';
import { hold } from '../../../fixtures/held-model';
import { doubling, started } from '../../../fixtures/log';
import { ada, right, Stage } from '../stage';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.clear());

describe('a dialogue that a developer plays', () => {
  it('ends with a grade, and stands in the log as it was played', async () => {
    const session = await stage.begun(asks('From how many kilos on?'), answers(right));
    await session.do({ type: 'reply', draft: { text: 'Above 20, for 4.50 more. Unknown zones give -1.' } });
    expect(session.state).toMatchObject({
      phase: 'over',
      grade: { headline: '10 of 10 tests passed', verdict: 'passed' },
    });
    const { turns, grades, state } = await stage.trajectory(session.id);
    expect(state).toBe('answered');
    expect(turns[0]?.reply).toMatchObject({ author: 'developer', by: 'ada' });
    expect(grades).toHaveLength(1);
  });

  it('shows a turn only once it is in the log', async () => {
    const session = await stage.begun(asks('How heavy?'), asks('Which zones?'));
    const logged: number[] = [];
    session.onMessage((message) => {
      if (message.type === 'turn' && message.turn.reply) {
        const summary = session.id === undefined ? undefined : stage.summary(session.id);
        logged.push(summary?.turns ?? 0);
      }
    });
    await session.do({ type: 'reply', draft: { text: '20.' } });
    expect(logged).toEqual([1]);
    expect((await stage.trajectory(session.id)).turns[0]?.reply?.text).toBe('20.');
  });

  it('lets the simulator play on to the end', async () => {
    const session = await stage.begun(
      asks('From how many kilograms on?'),
      asks('Which zones?'),
      answers(right),
    );
    await session.do({ type: 'simulator-on' });
    expect(session.state).toMatchObject({ phase: 'over', seat: 'simulator' });
    const { collaborator, turns } = await stage.trajectory(session.id);
    expect(collaborator.kind).toBe('rules');
    expect(turns.map(({ reply }) => reply?.author)).toEqual(['simulator', 'simulator', undefined]);
  });

  it('gives the seat back while the simulator plays', async () => {
    const session = await stage.begun(asks('How heavy?'), asks('Which zones?'), asks('Else?'));
    const { model, goOn } = hold(stage.agent!);
    stage.agent = model;
    const playing = session.do({ type: 'simulator-on' });
    await Stage.heard(session, 'agent');
    const taking = session.do({ type: 'take-seat' });
    goOn();
    await Promise.all([taking, playing]);
    expect(session.state).toMatchObject({ phase: 'developer', seat: 'developer' });
    expect((await stage.trajectory(session.id)).collaborator).toEqual({ kind: 'developer', name: 'ada' });
  });

  it('logs whose words a suggestion was: sent as it is, edited, or the developer’s own', async () => {
    const session = await stage.begun(...['How heavy?', 'Which zones?', 'And the rest?', 'Else?'].map(asks));
    const messages = Stage.messagesOf(session);
    await session.do({ type: 'suggest' });
    const suggested = messages.find((message) => message.type === 'suggestion')?.suggestion;
    const suggestion = { ...suggested!, replaced: '' };
    const text = ` ${suggestion.text}\n`;
    await session.do({ type: 'reply', draft: { text, suggestion } });
    await session.do({ type: 'reply', draft: { text: 'One to three.', suggestion } });
    await session.do({ type: 'reply', draft: { text: 'Nothing else.' } });
    const { turns } = await stage.trajectory(session.id);
    const drafted = { by: 'ada', suggestion: suggestion.text, suggestedBy: 'rules' };
    expect(turns.slice(0, 3).map(({ reply }) => reply)).toMatchObject([
      { ...drafted, author: 'developer-sent-suggestion' },
      { ...drafted, author: 'developer-edited-suggestion', text: 'One to three.' },
      { by: 'ada', author: 'developer', text: 'Nothing else.' },
    ]);
    expect(turns[2]?.reply).not.toHaveProperty('suggestion');
    expect(session.snapshot.turns[1]?.reply).toMatchObject({
      by: 'ada',
      suggested: { by: 'rules', isEdited: true },
    });
  });

  it('keeps the warning of a leaking reply for a view that was hidden, and logs the reply sent anyway', async () => {
    const session = await stage.begun(asks('How?'), asks('Else?'));
    const passage = session.task.reference.slice(session.task.reference.indexOf('\n')).trim().slice(0, 380);
    const reply = { type: 'reply', draft: { text: `Write ${passage}` } } as const;
    await session.do(reply);
    expect(session.snapshot.warning?.percent).toBeGreaterThanOrEqual(25);
    expect((await stage.trajectory(session.id)).turns[0]).not.toHaveProperty('reply');
    await session.do({ ...reply, anyway: true });
    expect(session.snapshot.warning).toBeUndefined();
    expect((await stage.trajectory(session.id)).turns[0]?.leak?.leaked).toBe(true);
  });

  it('has the agent write its last message anew, and says so when it wrote the same', async () => {
    let asked = 0;
    await using server = await startChatServer({
      reply: () => answer((asked += 1) === 1 ? 'OUTPUT:\nHow heavy?' : 'OUTPUT:\nWhich zones?'),
    });
    stage.agent = new OpenAiModel({ model: 'tiny', baseUrl: server.url });
    const session = await stage.session();
    await session.do({ type: 'start', consent: ada });
    await session.do({ type: 'another-sample' });
    expect(session.state).toMatchObject({ phase: 'developer', turn: 1 });
    expect(session.state.notice).toBeUndefined();
    expect(session.snapshot.turns).toMatchObject([{ visible: 'Which zones?', samples: 2 }]);
    await session.do({ type: 'another-sample' });
    expect(session.state.notice?.message).toContain('the same message again');
    const { turns } = await stage.trajectory(session.id);
    expect(turns[0]?.superseded).toHaveLength(2);
    const reloaded = await stage.reloaded(session.id);
    expect(reloaded.snapshot.turns).toMatchObject([{ visible: 'Which zones?', samples: 3 }]);
  });

  it('shows and changes a person’s own ratings only; what others said stays', async () => {
    const session = await stage.begun(asks('From how many kilos on?'), answers(right));
    await session.do({ type: 'reply', draft: { text: 'Above 20, for 4.50 more. Unknown zones give -1.' } });
    await (
      await stage.log()
    ).appendAll([
      { event: 'rating', episode: session.id!, stars: 1, comment: 'It guesses.', by: 'kim' },
      { event: 'turn-rating', episode: session.id!, turn: 1, thumb: 'down', by: 'kim' },
    ]);
    const reloaded = await stage.reloaded(session.id);
    expect([reloaded.state.rating, reloaded.snapshot.turns[0]?.rating]).toEqual([{}, undefined]);
    await reloaded.do({ type: 'rate', change: { stars: 4 } });
    const { ratings } = await stage.trajectory(session.id);
    expect(ratings!.map(({ by, stars, comment }) => [by, stars, comment])).toEqual([
      ['kim', 1, 'It guesses.'],
      ['ada', 4, undefined],
    ]);
  });

  it('is rated, as a whole and turn by turn, at any time', async () => {
    const session = await stage.begun(asks('From how many kilos on?'), answers(right));
    await session.do({ type: 'rate-turn', turn: 1, change: { thumb: 'down', comment: 'Vague.' } });
    await session.do({ type: 'rate-turn', turn: 1, change: { thumb: 'none', comment: '' } });
    expect(session.snapshot.turns[0]?.rating).toEqual({});
    // Two quick changes overlap on the disk; neither may undo the other.
    void session.do({ type: 'rate-turn', turn: 1, change: { comment: 'To the point.' } });
    await session.do({ type: 'rate-turn', turn: 1, change: { thumb: 'up' } });
    await session.do({ type: 'reply', draft: { text: 'Above 20, for 4.50 more. Unknown zones give -1.' } });
    expect(session.snapshot.turns[0]?.rating).toEqual({ thumb: 'up', comment: 'To the point.' });
    void session.do({ type: 'rate', change: { comment: 'Short and good.' } });
    await session.do({ type: 'rate', change: { stars: 4 } });
    await session.do({ type: 'rate', change: { stars: 4 } });
    expect(session.state.rating).toEqual({ stars: 4, comment: 'Short and good.' });
    const reloaded = await stage.reloaded(session.id);
    expect(reloaded.state.rating).toEqual(session.state.rating);
    expect(reloaded.snapshot.turns).toEqual(session.snapshot.turns);
    expect((await stage.trajectory(session.id)).rating).toMatchObject({ by: 'ada', stars: 4 });
  });

  it('stays that of the agent that wrote its answer when it is ended under another one, or under none', async () => {
    for (const present of [await scripted(stage.folder, [asks('Which day?')]), undefined]) {
      const { id } = await stage.begun(asks('How heavy?'));
      const { agent } = await stage.trajectory(id);
      stage.agent = present;
      const session = await stage.reloaded(id);
      await session.do({ type: 'end-now' });
      expect(session.state).toMatchObject({ phase: 'over', agent });
      expect(await stage.trajectory(id)).toMatchObject({ agent, state: 'answered' });
      session.dispose();
    }
  });

  it('can end when the agent has died', async () => {
    const session = await stage.begun(`OUTPUT:\n${right}`, asks('Which zones?'));
    stage.openAgent = () => Promise.reject(new Error('The server is gone.'));
    await session.do({ type: 'reply', draft: { text: '20.' } });
    expect(session.state).toMatchObject({ phase: 'stopped', canEnd: true });
    await session.do({ type: 'end-now' });
    expect(session.state).toMatchObject({ phase: 'over', grade: { verdict: 'passed' } });
  });

  it('recalls what the developer has said in other dialogues, until it is deleted', async () => {
    const first = await stage.begun(asks('How heavy?'), asks('Which zones?'), asks('Else?'));
    await first.do({ type: 'reply', draft: { text: 'Above 20.' } });
    await first.do({ type: 'simulator-once' });
    const second = await stage.begun(asks('How heavy?'), asks('Which zones?'));
    await second.do({ type: 'reply', draft: { text: 'One to three.' } });
    const third = await stage.session();
    expect(await third.earlierReplies()).toEqual([]);
    await third.do({ type: 'start' });
    expect(await third.earlierReplies()).toEqual(['Above 20.', 'One to three.']);
    expect(await first.earlierReplies()).toEqual(['One to three.']);
    await (await stage.log()).delete([second.id!]);
    expect(await third.earlierReplies()).toEqual(['Above 20.']);
  });

  it('is rated and skipped in a workspace that is not trusted, which runs nothing, and is not played on', async () => {
    const over = await stage.begun(asks('How heavy?'), answers(right));
    await over.do({ type: 'reply', draft: { text: 'Above 20.' } });
    const session = await stage.begun(asks('How heavy?'), asks('Which zones?'));
    stage.restriction = 'Nothing is played here.';
    expect((await stage.session()).state.restriction).toBe('Nothing is played here.');
    await over.do({ type: 'rate', change: { stars: 4 } });
    await over.do({ type: 'rate-turn', turn: 1, change: { thumb: 'up' } });
    expect(over.state).toMatchObject({ rating: { stars: 4 } });
    expect(over.state.notice).toBeUndefined();
    await session.do({ type: 'reply', draft: { text: 'Above 20.' } });
    expect(session.state.notice).toMatchObject({
      message: 'Nothing is played here.',
      actions: ['manage-trust'],
    });
    expect((await stage.trajectory(session.id)).turns[0]).not.toHaveProperty('reply');
    await session.do({ type: 'skip', reason: 'Too hard' });
    expect(session.state.phase).toBe('skipped');
    const another = await stage.session();
    await another.do({ type: 'start' });
    expect(another.id).toBeUndefined();
    expect(another.state).toMatchObject({ phase: 'ready', notice: { message: 'Nothing is played here.' } });
  });

  it('is not set back by a reading of the log from before a step', async () => {
    const session = await stage.begun(asks('How heavy?'), asks('Which zones?'));
    await session.do({ type: 'skip', reason: 'The request is unclear' });
    const log = await stage.log();
    const { promise: held, resolve: goOn } = Promise.withResolvers<unknown>();
    const read = log.trajectory.bind(log);
    const slow = vi.spyOn(log, 'trajectory').mockImplementationOnce(async (id) => {
      const before = await read(id);
      await held;
      return before;
    });
    const following = session.do({ type: 'follow' });
    await eventually(() => expect(slow).toHaveBeenCalled());
    await session.do({ type: 'again' });
    goOn(undefined);
    await following;
    expect(session.state.phase).toBe('developer');
  });

  it('is skipped with a reason only after the consent is in its log, too', async () => {
    const log = await stage.log();
    await log.recordTask(doubling);
    await log.append(started('collected', { collection: 'c' }));
    await log.append({ event: 'abandoned', episode: 'collected', reason: 'cancelled', message: 'Stopped.' });
    const session = await stage.reloaded('collected');
    await session.do({ type: 'skip', reason: 'Too hard' });
    expect(session.state.phase).toBe('stopped');
    expect(stage.reported).toMatchObject([{ code: 'session/not-now' }]);
    // The person has agreed in another folder.
    vi.spyOn(stage.consent, 'given', 'get').mockReturnValue(ada);
    const append = vi.spyOn(log, 'append');
    await session.do({ type: 'skip', reason: 'Too hard' });
    expect(session.state.phase).toBe('skipped');
    expect(append.mock.calls.map(([event]) => event)).toMatchObject([
      { event: 'consent', pseudonym: 'ada' },
      { event: 'abandoned', message: 'Too hard' },
    ]);
  });
});
