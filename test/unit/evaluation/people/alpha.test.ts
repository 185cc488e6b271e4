import { describe, expect, it } from 'vitest';
import { alphaOf, type Alpha } from '../../../../src/core/evaluation/people/alpha';

const stars = [1, 2, 3, 4, 5];

/** Krippendorff's example (2011, section C): what four observers said of twelve units; 0: nothing. */
const observers = [
  [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
  [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
  [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
  [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
];
const example = observers[0]!.map((_, unit) => observers.flatMap((said) => (said[unit] ? [said[unit]] : [])));

/** Alpha of two people who say 0 of one half of the units and 1 of the other, except that they differ on the first ones. */
const agreeing = (units: number, differing = 0): Alpha =>
  alphaOf(
    Array.from({ length: units }, (_, unit) => (unit < differing ? [0, 1] : [unit % 2, unit % 2])),
    [0, 1],
    'nominal',
  );

describe('Krippendorff’s alpha', () => {
  it.each([
    ['nominal', 0.743],
    ['ordinal', 0.815],
  ] as const)('of his own example on the %s scale is %d', (scale, published) => {
    const { alpha, interval, units, values } = alphaOf(example, stars, scale);
    expect(alpha).toBeCloseTo(published, 3);
    expect({ units, values }).toEqual({ units: 11, values: 40 });
    expect(interval!.low).toBeLessThan(alpha!);
    expect(interval!.high).toBeGreaterThan(alpha!);
    expect(interval!.high).toBeLessThanOrEqual(1);
  });

  it('is 1 where all agree on things that differ, and below 0 where they contradict each other', () => {
    expect(agreeing(20)).toMatchObject({ alpha: 1, interval: { high: 1 } });
    const contradicting = Array.from({ length: 20 }, () => [0, 1]);
    const { alpha, interval } = alphaOf(contradicting, [0, 1], 'nominal');
    expect(alpha).toBeCloseTo(-0.95, 12);
    // One more such unit makes 42 values, half of them 0: 1 − 41 / 21.
    expect(interval!.low).toBeCloseTo(1 - 41 / 21, 12);
    // 20 of 20 differ, so by Clopper and Pearson 0.025^(1/20) = 0.8316 do at least. If 0.1684 agree on 0, then 0.5842 of
    // the values are 0, and chance makes 2 · 0.5842 · 0.4158 · 42 / 41 = 0.4977 differ: 1 − 0.8316 / 0.4977 = −0.67.
    expect(interval!.high).toBeCloseTo(-0.67, 1);
  });
});
