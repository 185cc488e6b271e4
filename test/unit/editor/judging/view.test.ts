import { describe, expect, it, vi } from 'vitest';
import {
  canJudge,
  isDone,
  judgingView,
  nextPair,
  nextToJudge,
  pairsOf,
} from '../../../../src/editor/judging/panel';
import type { NewEvent, Picked } from '../../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import type { Trajectory } from '../../../../src/core/trajectory/trajectory';
import { chosen } from '../../../fixtures/choices';
import { graded, judgement, kim, openLog, play } from '../../../fixtures/log';
import { english } from '../translate';

vi.mock('vscode', () => import('../vscode'));

const namer = { calledBy: (model: string) => model };

/** Logs a dialogue of kim's, with three pairs in two turns, and what kim says of it. */
async function rated(): Promise<{ log: TrajectoryLog; read: () => Promise<Trajectory> }> {
  const log = await openLog();
  await chosen(log, 'e', ['neither', 1]);
  await log.appendAll([
    { event: 'rating', episode: 'e', stars: 2, comment: 'It guesses.', by: 'kim' },
    { event: 'turn-rating', episode: 'e', turn: 1, thumb: 'down', by: 'kim' },
    graded('e', 1),
  ]);
  return { log, read: async () => (await log.trajectory('e'))! };
}

const stars = (by: string, given: number): NewEvent => ({ event: 'rating', episode: 'e', stars: given, by });

describe('a dialogue for its judge', () => {
  it('goes up to the next pair, and says nothing of authors, choices, ratings and the grade', async () => {
    const { log, read } = await rated();
    const judge = async (picked: Picked): Promise<unknown> => {
      const { pair, choice } = nextPair(await read(), 'ada')!;
      return log.append(judgement(choice, pair, picked, 'ada'));
    };
    const seen = async () => judgingView(await read(), 'ada', namer, english);
    const first = await seen();
    expect(first).toMatchObject({ pair: { turn: 1, pair: 0 }, turns: [], pairs: 3, judged: 0 });
    await judge(0);
    expect(await seen()).toMatchObject({ pair: { turn: 1, pair: 1 }, turns: [], judged: 1 });
    await judge('equal');
    const third = await seen();
    expect(third).toMatchObject({ pair: { turn: 2, pair: 0 }, turns: [{ turn: 1 }] });
    expect(third.turns[0]!.judged.map(({ picked, wentOn }) => [picked, wentOn])).toEqual([
      [0, null],
      ['equal', 0],
    ]);
    await judge(0);
    const last = await seen();
    expect([last.pair, last.judged, last.turns.length]).toEqual([undefined, 3, 2]);
    for (const view of [first, third, last]) {
      expect(view.outcome).toBeUndefined();
      const text = JSON.stringify(view).replace('reply 1 of kim', '');
      expect(text).not.toMatch(/kim|rival|openai|guesses|tests passed|down/);
    }
  });

  it('tells a judge who is done who wrote what, and what others chose and gave', async () => {
    const { log, read } = await rated();
    for (const { pair, choice } of pairsOf(await read())) {
      await log.append(judgement(choice, pair, 0, 'ada'));
    }
    expect(isDone(await read(), 'ada')).toBe(false);
    await log.append(stars('ada', 4));
    const { outcome } = judgingView(await read(), 'ada', namer, english);
    expect(outcome).toMatchObject({
      stars: 4,
      others: [{ by: 'kim', stars: 2, comment: 'It guesses.' }],
      grade: { verdict: 'passed' },
    });
    expect(outcome!.pairs.map(({ turn, own, others }) => [turn, own, others])).toEqual([
      [1, 0, [{ by: 'kim', picked: 'neither' }]],
      [1, 0, [{ by: 'kim', picked: 'equal' }]],
      [2, 0, [{ by: 'kim', picked: 1 }]],
    ]);
    expect(outcome!.pairs[0]!.agents).toEqual(['openai:agent', 'openai:rival']);
    // Another judge is not done by that.
    expect(JSON.stringify(judgingView(await read(), 'ben', namer, english))).not.toMatch(/ada|kim|rival/);
  });
});

it('a dialogue to judge is none of the judge’s own, and is finished', async () => {
  const trajectory = await (await rated()).read();
  expect([canJudge(trajectory, 'kim'), canJudge(trajectory, 'ada')]).toEqual([false, true]);
  expect(canJudge({ ...trajectory, state: 'open' }, 'ada')).toBe(false);
});

describe('the next dialogue to judge', () => {
  it('has candidates if there is one, is not the judge’s own, and not one that is judged', async () => {
    const { log, read } = await rated();
    await play(log, 'plain', 1);
    await play(log, 'own', 1, { collaborator: { kind: 'developer', name: 'ada' } });
    expect(await nextToJudge(log, {}, 'ada')).toBe('e');
    expect(await nextToJudge(log, {}, kim.name)).toBe('own');
    for (const { pair, choice } of pairsOf(await read())) await log.append(judgement(choice, pair, 0, 'ada'));
    // The stars are missing.
    expect(await nextToJudge(log, {}, 'ada')).toBe('e');
    await log.append(stars('ada', 4));
    expect(await nextToJudge(log, {}, 'ada')).toBe('plain');
    await log.append({ event: 'rating', episode: 'plain', stars: 4, by: 'ada' });
    expect(await nextToJudge(log, {}, 'ada')).toBeUndefined();
  });
});
