import { describe, expect, it } from 'vitest';
import { wilson } from '../../../../src/core/evaluation/interval';
import { agreementIn } from '../../../../src/core/evaluation/people/agreement';
import { PeoplesOpinions } from '../../../../src/core/evaluation/people/opinions';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { chosen } from '../../../fixtures/choices';
import { judgement, kim, openLog, play, started } from '../../../fixtures/log';

const ada = { kind: 'developer', name: 'ada' } as const;

const rating = (episode: string, by: string, stars: number, comment?: string): NewEvent => ({
  event: 'rating',
  episode,
  stars,
  by,
  ...(comment && { comment }),
});

const thumb = (episode: string, turn: number, by: string, up: boolean): NewEvent => ({
  event: 'turn-rating',
  episode,
  turn,
  thumb: up ? 'up' : 'down',
  by,
});

async function judge(log: TrajectoryLog, episode: string, by: string, picks: readonly (0 | 1 | 'equal')[]) {
  const { turns } = (await log.trajectory(episode))!;
  const pairs = turns.flatMap(({ candidates = [] }) => candidates);
  await log.appendAll(picks.map((picked, index) => judgement(pairs[index]!, 0, picked, by)));
}

const agreement = (log: TrajectoryLog, filter = {}) => agreementIn(log, new PeoplesOpinions(), filter);

describe('the agreement of people', () => {
  it('has each person’s success and leaks, of the dialogues they played', async () => {
    const log = await openLog();
    await play(log, 'a', 1, { collaborator: kim });
    await play(log, 'b', 0, { collaborator: kim });
    await play(log, 'c', 1, { collaborator: ada });
    await play(log, 'd', 1); // a simulator's
    const { people, shared } = await agreement(log);
    expect(people).toMatchObject([
      { name: 'ada', dialogues: 1, tasks: 1, success: { value: 1, interval: wilson(1, 1) } },
      {
        name: 'kim',
        dialogues: 2,
        tasks: 1,
        success: { value: 0.5 },
        leak: { value: 0, interval: wilson(0, 2) },
      },
    ]);
    expect(people[0]).not.toHaveProperty('stars');
    expect(shared).toBe(1);
  });

  it('has what each person judged, and alpha over what two of them did', async () => {
    const log = await openLog();
    for (const episode of ['a', 'b', 'c']) await play(log, episode, 1, { collaborator: kim });
    await log.appendAll([
      ...[rating('a', 'kim', 5), rating('a', 'ada', 5), rating('b', 'kim', 1), rating('b', 'ada', 1)],
      ...[
        rating('c', 'kim', 1),
        rating('c', 'ada', 5, 'It asked well.'),
        rating('c', 'ada', 4, 'It asked well.'),
      ],
      ...[thumb('a', 1, 'kim', true), thumb('a', 1, 'ada', false), thumb('a', 2, 'kim', true)],
    ]);
    const { people, alpha, disagreements } = await agreement(log);
    expect(people).toMatchObject([
      { name: 'ada', dialogues: 0, stars: { value: 10 / 3, of: 3 }, thumbs: { value: 0, of: 1 } },
      { name: 'kim', dialogues: 3, stars: { value: 7 / 3, of: 3 }, thumbs: { value: 1, of: 2 } },
    ]);
    // By hand: values 1 three times, 4 once, 5 twice; ranks apart: 1–4 (3 + 1) / 2 = 2, 1–5 3.5, 4–5 1.5. Observed
    // 2 · 2²; expected 2 · (3 · 1 · 2² + 3 · 2 · 3.5² + 1 · 2 · 1.5²) / 5 = 36.
    expect(alpha.stars.alpha).toBeCloseTo(1 - 8 / 36, 12);
    expect(alpha.stars).toMatchObject({ units: 3, values: 6 });
    expect(alpha.thumbs.units).toBe(1);
    expect(alpha.choices).toEqual({ alpha: undefined, units: 0, values: 0 });
    expect(disagreements).toMatchObject([
      { kind: 'thumbs', episode: 'a', turn: 1, distance: 1 },
      {
        kind: 'stars',
        episode: 'c',
        distance: 0.75,
        said: [
          { by: 'kim', value: 1 },
          { by: 'ada', value: 4, comment: 'It asked well.' },
        ],
      },
    ]);
  });

  it('compares choices of the same candidates, with both messages', async () => {
    const log = await openLog();
    await chosen(log, 'a', [0, 1, 'equal']);
    await judge(log, 'a', 'ada', [0, 0, 1]);
    const { people, alpha, disagreements } = await agreement(log);
    expect(alpha.choices).toMatchObject({ units: 3, values: 6 });
    // By hand: values 0 three times, 1 twice, equal once; observed 4, expected (36 − 9 − 4 − 1) / 5 = 4.4.
    expect(alpha.choices.alpha).toBeCloseTo(1 - 4 / 4.4, 12);
    expect(people).toMatchObject([
      { name: 'ada', first: { value: 2 / 3, of: 3 }, undecided: { value: 0, of: 3 } },
      { name: 'kim', first: { value: 1 / 2, of: 2 }, undecided: { value: 1 / 3, of: 3 } },
    ]);
    expect(disagreements.map(({ turn, distance }) => [turn, distance])).toEqual([
      [2, 1],
      [3, 0.5],
    ]);
    expect(disagreements[0]!.messages).toEqual(['OUTPUT: candidate 0 for 2?', 'OUTPUT: candidate 1 for 2?']);
  });

  it('shows no choice of a dialogue that goes on, and nothing of one that the filter leaves out', async () => {
    const log = await openLog();
    await chosen(log, 'a', [0]);
    await log.append(started('b', { collaborator: kim }));
    await log.append(rating('b', 'kim', 3));
    expect((await agreement(log, { state: 'open' })).people).toMatchObject([
      { name: 'kim', stars: { value: 3 } },
    ]);
    const ofBoth = await agreement(log);
    expect(ofBoth.people).toMatchObject([{ name: 'kim', dialogues: 2, first: { of: 1 } }]);
    expect(ofBoth.shared).toBe(0);
  });
});
