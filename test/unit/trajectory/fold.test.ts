import { describe, expect, it } from 'vitest';
import { LOG_VERSION, type NewEvent } from '../../../src/core/trajectory/event';
import { summarize } from '../../../src/core/trajectory/fold';
import { opinionsOn } from '../../../src/core/trajectory/opinions';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  dialogue,
  doubling,
  foldTrajectory,
  judgement,
  kim,
  label,
  leak,
  reply,
  review,
  started,
} from '../../fixtures/log';

const task: NewEvent = { event: 'task', task: doubling };

function fold(events: readonly NewEvent[]): Trajectory | undefined {
  return foldTrajectory(
    events.map((event, second) => {
      const at = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
      return { version: LOG_VERSION, at, ...event };
    }),
  );
}

describe('folding an episode', () => {
  it('puts turns, replies and leaks together', () => {
    const trajectory = fold([task, ...dialogue('e1', 0.5)]);
    expect(trajectory).toMatchObject({ id: 'e1', task: doubling, state: 'answered', started: { seed: 7 } });
    expect(trajectory?.turns).toHaveLength(2);
    expect(trajectory?.turns[0]).toMatchObject({
      agent: { turn: 1 },
      reply: { turn: 1 },
      leak: { fraction: 0.1 },
    });
    expect(trajectory?.turns[1]).not.toHaveProperty('reply');
    expect(trajectory?.grades.map(({ grade }) => grade.reward)).toEqual([0.5]);
    expect(trajectory?.damaged).toBeUndefined();
  });

  it('is open again after it was abandoned and resumed', () => {
    const failed: NewEvent = { event: 'abandoned', episode: 'e1', reason: 'failed', message: 'No server.' };
    const events = [task, started('e1'), agentTurn('e1', 1), failed];
    expect(fold(events)).toMatchObject({ state: 'abandoned', abandoned: { message: 'No server.' } });
    const resumed = fold([...events, { event: 'resumed', episode: 'e1' }]);
    expect(resumed?.state).toBe('open');
    const byAnother = fold([...events, { event: 'resumed', episode: 'e1', agent: 'another' }]);
    expect([resumed?.agent, byAnother?.agent]).toEqual([resumed?.started.agent, 'another']);
    expect(resumed?.abandoned).toBeUndefined();
  });

  it('seats whoever took over last', () => {
    const trajectory = fold([
      task,
      started('e1'),
      agentTurn('e1', 1),
      { event: 'hand-over', episode: 'e1', turn: 1, to: kim },
      reply('e1', 1, kim),
    ]);
    expect(trajectory?.collaborator).toEqual(kim);
    expect(trajectory?.started.collaborator.kind).toBe('simulator');
  });

  it('takes a turn back, with all that followed it, when the turn is played again', () => {
    const trajectory = fold([
      task,
      ...dialogue('e1', 1),
      { event: 'resumed', episode: 'e1' },
      agentTurn('e1', 1, 'OUTPUT: another question?'),
    ]);
    expect(trajectory).toMatchObject({ state: 'open', grades: [] });
    expect(trajectory?.turns.map(({ agent }) => agent.text)).toEqual(['OUTPUT: another question?']);
    expect(trajectory?.turns[0]).not.toHaveProperty('reply');
    expect(trajectory?.answer).toBeUndefined();
  });

  it('puts candidates and what was said of them with the turn that they became', () => {
    const trajectory = fold([
      task,
      started('e1'),
      candidates('e1', 1),
      choice('e1', 1, 'neither'),
      candidates('e1', 1),
      choice('e1', 1, 1),
      agentTurn('e1', 1),
      reply('e1', 1, kim),
    ]);
    const [turn] = trajectory!.turns;
    expect(turn!.candidates?.map(({ choice: made }) => made.picked)).toEqual(['neither', 1]);
    expect(turn!.reply).toMatchObject({ turn: 1 });
    expect(trajectory?.pending).toBeUndefined();
    expect(summarize(trajectory!)).toMatchObject({ choices: 2, turns: 1 });
  });

  it('keeps candidates that wait for a choice, and forgets those that nobody chose from', () => {
    const waiting = [task, started('e1'), candidates('e1', 1)];
    expect(fold(waiting)).toMatchObject({ turns: [], pending: [{ shown: { turn: 1 } }] });
    expect(fold([...waiting, { event: 'resumed', episode: 'e1' }])?.pending).toHaveLength(1);
    expect(fold([...waiting, candidates('e1', 1)])?.pending).toHaveLength(1);
    const without = fold([...waiting, agentTurn('e1', 1)]);
    expect(without?.pending).toBeUndefined();
    expect(without?.turns[0]).not.toHaveProperty('candidates');
  });

  it('remembers the samples of a turn that another sample took the place of', () => {
    const again: NewEvent = { event: 'turn-superseded', episode: 'e1', turn: 1 };
    const trajectory = fold([
      task,
      started('e1'),
      agentTurn('e1', 1, 'OUTPUT: first?'),
      { event: 'turn-rating', episode: 'e1', turn: 1, thumb: 'down', by: 'kim' },
      again,
      agentTurn('e1', 1, 'OUTPUT: second?'),
      again,
      agentTurn('e1', 1, 'OUTPUT: third?'),
      reply('e1', 1, kim),
    ]);
    expect(trajectory?.turns).toMatchObject([
      {
        agent: { text: 'OUTPUT: third?' },
        superseded: [{ text: 'OUTPUT: first?' }, { text: 'OUTPUT: second?' }],
        reply: { by: 'kim' },
      },
    ]);
    expect(trajectory?.turns[0]).not.toHaveProperty('rating');
    expect(trajectory?.damaged).toBeUndefined();
  });

  it('keeps the last rating of each person, of the dialogue and of a turn; the last of all is the one that is shown', () => {
    const rated = (by: string, stars?: number): NewEvent => ({
      ...{ event: 'rating', episode: 'e1', by },
      ...(stars !== undefined && { stars }),
    });
    const thumb = (by: string, up?: boolean): NewEvent => ({
      ...{ event: 'turn-rating', episode: 'e1', turn: 1, by },
      ...(up !== undefined && { thumb: up ? ('up' as const) : ('down' as const) }),
    });
    const said = [rated('kim', 2), rated('lee', 5), rated('kim', 3), thumb('lee', true), thumb('kim', false)];
    const trajectory = fold([task, ...dialogue('e1', 1), ...said]);
    expect(trajectory?.ratings?.map(({ by, stars }) => [by, stars])).toEqual([
      ['lee', 5],
      ['kim', 3],
    ]);
    expect(trajectory?.rating).toMatchObject({ by: 'kim', stars: 3 });
    expect(trajectory?.turns[0]?.ratings?.map((one) => [one.by, one.thumb])).toEqual([
      ['lee', 'up'],
      ['kim', 'down'],
    ]);
    const back = fold([task, ...dialogue('e1', 1), ...said, rated('kim'), thumb('kim')]);
    expect(back?.rating).toMatchObject({ by: 'lee', stars: 5 });
    expect(back?.turns[0]?.rating).toMatchObject({ by: 'lee', thumb: 'up' });
    const none = fold([task, ...dialogue('e1', 1), rated('kim', 2), rated('kim')]);
    expect(none?.rating).toBeUndefined();
    expect(none?.ratings).toBeUndefined();
  });

  it('keeps the label of each person until that person takes it back', () => {
    const labels = [
      label('e1', 'kim', { title: 'One', tags: ['b'] }),
      label('e1', 'lee', { tags: ['a', ' b\n'], note: 'Look here.' }),
    ];
    const trajectory = fold([task, ...dialogue('e1', 1), ...labels]);
    expect(trajectory?.labels?.map(({ by }) => by)).toEqual(['kim', 'lee']);
    expect(summarize(trajectory!)).toMatchObject({ title: 'One', tags: ['a', 'b'], note: 'Look here.' });
    const back = fold([task, ...dialogue('e1', 1), ...labels, label('e1', 'lee', { title: ' ', tags: [] })]);
    expect(back?.labels?.map(({ by }) => by)).toEqual(['kim']);
    expect(summarize(back!).note).toBeUndefined();
  });

  it('has the title that somebody gave last; a label that repeats its writer’s title gives none', () => {
    const titleAfter = (...labels: readonly NewEvent[]): string | undefined =>
      summarize(fold([task, ...dialogue('e1', 1), ...labels])!).title;
    const renamed = [label('e1', 'kim', { title: 'One' }), label('e1', 'lee', { title: 'Two' })];
    const tagged = label('e1', 'kim', { title: 'One', tags: ['a'] });
    expect(titleAfter(...renamed)).toBe('Two');
    expect(titleAfter(...renamed, tagged)).toBe('Two');
    expect(titleAfter(...renamed, tagged, label('e1', 'lee'))).toBe('One');
    expect(titleAfter(...renamed, label('e1', 'kim', { tags: ['a'] }), tagged)).toBe('One');
    expect(titleAfter(...renamed, label('e1', 'kim', { title: 'Three' }))).toBe('Three');
  });

  it('keeps the last review of anybody, until the dialogue is taken up again', () => {
    const reviewed = [task, ...dialogue('e1', 1), review('e1', 'kim', 'accepted')];
    const redo = fold([...reviewed, review('e1', 'lee', 'redo', 'It leaks.')]);
    expect(redo?.review).toMatchObject({ state: 'redo', reason: 'It leaks.', by: 'lee' });
    expect(fold([...reviewed, review('e1', 'lee')])?.review).toBeUndefined();
    expect(fold([...reviewed, { event: 'resumed', episode: 'e1' }])?.review).toBeUndefined();
    expect(fold([...reviewed, agentTurn('e1', 2)])?.review).toBeUndefined();
  });

  it('keeps what others judge of candidates beside the choice, and leaves the dialogue as it was', () => {
    const chosen = [
      task,
      started('e1'),
      candidates('e1', 1),
      choice('e1', 1, 'neither'),
      candidates('e1', 1),
      choice('e1', 1, 0),
      agentTurn('e1', 1),
    ];
    const [first, second] = fold(chosen)!.turns[0]!.candidates!;
    const judged = [
      judgement(first!, 0, 'equal', 'lee'),
      judgement(second!, 1, 'neither', 'lee'),
      judgement(second!, 1, 1, 'lee'),
      judgement(second!, 1, 0, 'ada'),
      // Kim chose: a judgement of the same person is no second opinion.
      judgement(second!, 1, 1, 'kim'),
    ];
    const trajectory = fold([...chosen, ...judged])!;
    expect(trajectory.turns[0]!.candidates!.map(opinionsOn)).toEqual([
      [
        { by: 'kim', picked: 'neither' },
        { by: 'lee', picked: 'equal' },
      ],
      [
        { by: 'kim', picked: 0 },
        { by: 'lee', picked: 1 },
        { by: 'ada', picked: 0 },
      ],
    ]);
    expect(trajectory.turns[0]!.agent.text).toBe(fold(chosen)!.turns[0]!.agent.text);
    expect(summarize(trajectory)).toMatchObject({ choices: 2, raters: 3 });
    // The same place in the same turn, but of other candidates: the turn was played again.
    const again = fold([...chosen, candidates('e1', 1), choice('e1', 1, 1), agentTurn('e1', 1), judged[0]!])!;
    expect(again.turns[0]!.candidates!.map(opinionsOn)).toEqual([[{ by: 'kim', picked: 1 }]]);
    expect(again.damaged).toBeUndefined();
  });

  it('is nothing when it was deleted, never started, or its task is not there', () => {
    expect(fold([task, ...dialogue('e1', 1), { event: 'deleted', episode: 'e1' }])).toBeUndefined();
    expect(fold([task, agentTurn('e1', 1)])).toBeUndefined();
    expect(fold(dialogue('e1', 1))).toBeUndefined();
  });

  it('begins anew when an import wrote the episode a second time', () => {
    const events = [task, started('e1'), agentTurn('e1', 1), ...dialogue('e1', 1)];
    expect(fold(events)).toMatchObject({ state: 'answered', turns: [{ reply: {} }, {}] });
  });

  it('says what is missing when lines are gone', () => {
    expect(fold([task, started('e1'), agentTurn('e1', 1), agentTurn('e1', 3)])?.damaged).toBe(
      'Turn 2 is missing from the log.',
    );
    expect(fold([task, started('e1'), reply('e1', 1)])?.damaged).toBe(
      'A reply to turn 1 is in the log, but the turn is not.',
    );
    expect(fold([task, started('e1'), leak('e1', 1), answered('e1', 1)])?.damaged).toBe(
      'A leak to turn 1 is in the log, but the turn is not.',
    );
    expect(fold([task, started('e1'), choice('e1', 1, 0)])?.damaged).toBe(
      'A choice for turn 1 is in the log, but its candidates are not.',
    );
  });
});
