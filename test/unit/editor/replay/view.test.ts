import { describe, expect, it } from 'vitest';
import type { LogEvent, NewEvent } from '../../../../src/core/trajectory/event';
import { foldTrajectory } from '../../../../src/core/trajectory/fold';
import { replayOf } from '../../../../src/editor/replay/view';
import { agentTurn, candidates, choice, doubling, kim, reply, started } from '../../../fixtures/log';
import { playedDialogue } from '../playedDialogue';
import { english } from '../translate';

const played = playedDialogue();

describe('a replay', () => {
  it('says who wrote each reply and how, and where the seat went', () => {
    const { turns } = replayOf(played().trajectory, 'ada', english, 'en');
    expect(turns.map(({ reply }) => reply && [reply.by, reply.origin])).toEqual([
      ['you', 'developer · 42 s'],
      ['you', 'suggested by simulator, edited by developer · <1 s'],
      ['rules', expect.stringMatching(/^simulator · /) as string],
      undefined,
    ]);
    expect(turns[1]?.reply).toMatchObject({ suggestion: 'The supplement is 4.50.' });
    expect(turns[1]?.reply?.leakPercent).toBeGreaterThan(50);
    expect(turns.map(({ handOvers }) => handOvers)).toEqual([
      [],
      [],
      [{ name: 'rules', seat: 'simulator' }],
      [],
    ]);
  });

  it('shows what was chosen from and by whom, earlier samples and remarks', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const events: NewEvent[] = [
      { event: 'task', task: doubling },
      started('e', { collaborator: kim }),
      candidates('e', 1),
      choice('e', 1, 1),
      agentTurn('e', 1, 'OUTPUT: candidate 1 for 1?'),
      { event: 'turn-superseded', episode: 'e', turn: 1 },
      agentTurn('e', 1, `OUTPUT:\n${'long '.repeat(20_000)}`),
      { event: 'turn-rating', episode: 'e', turn: 1, thumb: 'down', comment: 'Vague.', by: 'kim' },
      reply('e', 1, kim),
      candidates('e', 2),
      choice('e', 2, 'neither'),
    ];
    const replayed = (more: readonly NewEvent[]) =>
      replayOf(
        foldTrajectory([...events, ...more].map((event): LogEvent => ({ version: 1, at, ...event })))!,
        'kim',
        english,
        'en',
      );
    const during = replayed([]);
    expect(during.turns[0]).toMatchObject({
      choices: [{ picked: 1, by: 'kim', took: 'After 2 s.' }],
      earlier: [{ visible: 'candidate 1 for 1?' }],
      rating: { thumb: 'down', comment: 'Vague.', by: 'you' },
    });
    expect(during.turns[0]?.left).toBeGreaterThan(40_000);
    expect(during.refused).toMatchObject([{ picked: 'neither', by: 'kim' }]);
    expect(JSON.stringify([during.turns, during.refused])).not.toContain('rival');
    const after = replayed([{ event: 'abandoned', episode: 'e', reason: 'skipped', message: 'Too hard' }]);
    const told = { agents: ['openai:agent', 'openai:rival'] };
    expect([after.turns[0]?.choices, after.refused]).toMatchObject([[told], [told]]);
  });

  it('calls a stranger by the pseudonym', () => {
    expect(replayOf(played().trajectory, 'somebody', english, 'en').turns[0]?.reply?.by).toBe('ada');
    expect(replayOf(played().trajectory, undefined, english, 'en').rating).toEqual({
      stars: 4,
      comment: 'Good questions.',
      by: 'ada',
    });
  });

  it('says how it ended, and shows the latest grade of each mode', () => {
    const grade = (mode: 'fixed' | 'paper', reward: number) => ({
      ...played().trajectory.answer!,
      event: 'grade' as const,
      grade: { mode, reward, success: reward === 1, tests: [] },
    });
    const graded = {
      ...played().trajectory,
      grades: [grade('fixed', 0.5), grade('paper', 0.7), grade('fixed', 1)],
    };
    const replay = replayOf(graded, 'ada', english, 'en');
    expect(replay).toMatchObject({
      ending: 'The agent answered after 4 turns.',
      outcome: '100 % of the tests',
      success: true,
      hasAnswer: true,
      hasReference: true,
    });
    expect(replay.grades.map(({ headline: words }) => words)).toEqual([
      '100 % of the tests passed',
      '70 % of the tests passed',
    ]);
    expect(replayOf(played().trajectory, 'ada', english, 'en')).toMatchObject({
      outcome: 'not graded yet',
      success: null,
      grades: [],
    });
  });
});
