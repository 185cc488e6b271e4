import { describe, expect, it } from 'vitest';
import { meanInterval, medianInterval, wilson } from '../../../src/core/evaluation/interval';

describe('the Wilson interval', () => {
  // Source: Newcombe 1998, Statistics in Medicine 17, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %i successes in %i agrees with the published values', (successes, n, low, high) => {
    const interval = wilson(successes / n, n);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  it('says nothing without observations', () => {
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });
});

describe('intervals', () => {
  it('of a mean need six values that differ', () => {
    expect(meanInterval([1, 2, 3, 4, 5])).toBeUndefined();
    expect(meanInterval([3, 3, 3, 3, 3, 3])).toBeUndefined();
    const { low, high } = meanInterval([1, 2, 3, 3, 4, 5])!;
    // s² = 10 / 5, n = 6
    expect(low).toBeCloseTo(3 - 1.959963984540054 * Math.sqrt(1 / 3), 12);
    expect(high).toBeCloseTo(3 + 1.959963984540054 * Math.sqrt(1 / 3), 12);
  });

  it('of a median cover it in at least nineteen of twenty samples', () => {
    let state = 1;
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
    for (const n of [6, 7, 20, 61]) {
      let covered = 0;
      for (let sample = 0; sample < 2000; sample += 1) {
        const values = Array.from({ length: n }, () => random() ** 3).sort((a, b) => a - b);
        const { low, high } = medianInterval(values)!;
        if (low <= 0.125 && 0.125 <= high) covered += 1;
      }
      expect(covered / 2000).toBeGreaterThan(0.945);
    }
    expect(medianInterval([1, 2, 3, 4, 5])).toBeUndefined();
  });
});
