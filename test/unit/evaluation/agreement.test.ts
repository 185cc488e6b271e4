import { describe, expect, it } from 'vitest';
import { agreementWith } from '../../../src/core/evaluation/agreement';
import type { Advantages } from '../../../src/core/training/credit/credit';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { openLog, play, verdict } from '../../fixtures/log';

const thumb = (episode: string, turn: number, up: boolean): NewEvent => ({
  event: 'turn-rating',
  episode,
  turn,
  thumb: up ? 'up' : 'down',
  by: 'kim',
});

const advantages = (of: Readonly<Record<string, readonly number[]>>): Advantages =>
  new Map(
    Object.entries(of).map(([episode, values]) => [
      episode,
      new Map(values.map((value, index) => [index + 1, value])),
    ]),
  );

describe('the agreement of people with a critic', () => {
  it('counts the last word of each person on each turn, and no other critic’s', async () => {
    const log = await openLog();
    for (const episode of ['a', 'b', 'c']) await play(log, episode, 1);
    await log.appendAll([
      verdict('a', 1, false),
      verdict('a', 1, true),
      verdict('a', 1, false, { by: 'ada' }),
      verdict('a', 2, true),
      verdict('a', 2, false, { critic: 'another' }),
      verdict('b', 1, true),
      verdict('b', 1, undefined),
    ]);
    const { verdicts, thumbs } = await agreementWith(log, 'critic-1', new Map());
    expect(verdicts).toMatchObject({ agreed: 2, of: 3, rate: 2 / 3 });
    expect(verdicts.interval.low).toBeCloseTo(0.208, 3);
    expect(verdicts.interval.high).toBeCloseTo(0.939, 3);
    expect(thumbs).toMatchObject({ of: 0, rate: null });
  });

  it('compares the sign of the advantage with the thumbs of the dialogues that the critic has read', async () => {
    const log = await openLog();
    for (const episode of ['a', 'b']) await play(log, episode, 1);
    await log.appendAll([thumb('a', 1, true), thumb('a', 2, false), thumb('b', 1, true)]);
    const of = async (given: Readonly<Record<string, readonly number[]>>) =>
      (await agreementWith(log, 'critic-1', advantages(given))).thumbs;
    expect(await of({ a: [0.2, 0.1], b: [0.3, 0] })).toMatchObject({ agreed: 2, of: 3 });
    expect(await of({ a: [-0.2, -0.1] })).toMatchObject({ agreed: 1, of: 2 });
    expect(await of({ a: [0, 0] })).toMatchObject({ of: 0 });
  });
});
