import { describe, expect, it } from 'vitest';
import { alphaOf } from '../../../../src/core/evaluation/people/alpha';

const stars = [1, 2, 3, 4, 5];

/** Krippendorff's example (2011, section C): what four observers said of twelve units; 0: nothing. */
const observers = [
  [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
  [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
  [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
  [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
];
const example = observers[0]!.map((_, unit) => observers.flatMap((said) => (said[unit] ? [said[unit]] : [])));

describe('Krippendorff’s alpha', () => {
  it.each([
    ['nominal', 0.743],
    ['ordinal', 0.815],
    ['interval', 0.849],
  ] as const)('of his own example on the %s scale is %d', (scale, published) => {
    const { alpha, interval, units, values } = alphaOf(example, stars, scale);
    expect(alpha).toBeCloseTo(published, 3);
    expect({ units, values }).toEqual({ units: 11, values: 40 });
    expect(interval!.low).toBeLessThan(alpha!);
    expect(interval!.high).toBeGreaterThan(alpha!);
    expect(interval!.high).toBeLessThanOrEqual(1);
  });

  it('is as worked by hand for two people who agree on two of three things', () => {
    // Pairs: (a,a) twice, (b,b) twice, (a,b) and (b,a) once each; 3 values of each kind, 6 in all.
    // Observed disagreement 2, expected 2 · 3 · 3 / 5 = 3.6.
    const { alpha } = alphaOf(
      [
        ['a', 'a'],
        ['b', 'b'],
        ['a', 'b'],
      ],
      ['a', 'b'],
      'nominal',
    );
    expect(alpha).toBeCloseTo(1 - 2 / 3.6, 12);
  });

  it('is 1 where all agree on things that differ, and below 0 where they contradict each other', () => {
    const agreeing = Array.from({ length: 20 }, (_, unit) => [unit % 2, unit % 2]);
    expect(alphaOf(agreeing, [0, 1], 'nominal')).toMatchObject({ alpha: 1, interval: { low: 1, high: 1 } });
    const contradicting = Array.from({ length: 20 }, () => [0, 1]);
    expect(alphaOf(contradicting, [0, 1], 'nominal').alpha).toBeCloseTo(-0.95, 12);
  });

  it('is not known where only one value was given, and where nothing was judged twice', () => {
    expect(alphaOf([['up', 'up'], ['up', 'up'], ['down']], ['down', 'up'], 'nominal')).toEqual({
      alpha: undefined,
      units: 2,
      values: 4,
    });
    expect(alphaOf([[1], [2], []], stars, 'ordinal')).toEqual({ alpha: undefined, units: 0, values: 0 });
  });

  it('has no interval with few units, and where many draws would have no alpha', () => {
    const few = Array.from({ length: 5 }, (_, unit) => [unit % 2, unit % 2]);
    expect(alphaOf(few, [0, 1], 'nominal')).toEqual({ alpha: 1, units: 5, values: 10 });
    const nearlyOne = Array.from({ length: 20 }, (_, unit) => (unit === 0 ? [1, 5] : [5, 5]));
    expect(alphaOf(nearlyOne, stars, 'ordinal')).not.toHaveProperty('interval');
  });
});
