import { describe, expect, it } from 'vitest';
import { pairedDifference } from '../../../src/core/evaluation/paired';

describe('the paired difference', () => {
  const tasks = Array.from({ length: 200 }, (_, i) => i);
  const before = tasks.map((i) => Number(i % 3 === 0));

  it('sees a difference that is small against the spread between tasks, because it is paired', () => {
    const after = before.map((value, i) => (i % 10 === 1 ? 1 : value));
    const { difference, interval, p } = pairedDifference(before, after);
    expect(difference).toBeGreaterThan(0.05);
    expect(interval!.low).toBeGreaterThan(0);
    expect(p).toBeLessThan(0.01);
  });

  it('covers the true difference in about 95 of 100 experiments', () => {
    let seed = 7;
    const random = (): number => ((seed = (seed * 48271) % 2147483647), seed / 2147483647);
    let covered = 0;
    for (let experiment = 0; experiment < 100; experiment++) {
      const first = tasks.slice(0, 60).map(() => Number(random() < 0.3));
      const second = first.map(() => Number(random() < 0.4));
      const { interval } = pairedDifference(first, second, experiment);
      covered += Number(interval!.low <= 0.1 && 0.1 <= interval!.high);
    }
    expect(covered).toBeGreaterThanOrEqual(88);
  });

  it('claims nothing from a handful of tasks', () => {
    expect(pairedDifference([0], [1])).toEqual({ difference: 1, interval: null, p: 1, tasks: 1 });
    expect(pairedDifference([0, 0, 0], [1, 1, 1])).toMatchObject({ interval: null, p: 0.25 });
    expect(pairedDifference([], [])).toEqual({ difference: null, interval: null, p: null, tasks: 0 });
  });
});
