import { describe, expect, it } from 'vitest';
import { mulberry32 } from '../../../src/core/random';
import { differences, overSeeds } from '../../../src/core/evaluation/overSeeds';

const random = mulberry32(5);
/** Draws from the standard normal distribution (Box–Muller). */
const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const list = <T>(length: number, value: (i: number) => T): T[] => Array.from({ length }, (_, i) => value(i));

describe('the interval over seeds and tasks', () => {
  const taskEffects = list(200, normal);

  it.each([2, 3, 5])('covers the truth in about 95 of 100 experiments with %d seeds', (seeds) => {
    let covered = 0;
    for (let experiment = 0; experiment < 100; experiment++) {
      const tasks = list(30, normal);
      const values = list(seeds, () => 0.3 * normal()).map((seed) =>
        tasks.map((task) => 0.3 + seed + task + normal()),
      );
      const { interval } = overSeeds(values, experiment);
      covered += Number(interval!.low <= 0.3 && 0.3 <= interval!.high);
    }
    expect(covered).toBeGreaterThanOrEqual(90);
  });

  it('is of a paired difference, which the spread between tasks does not widen', () => {
    const first = list(3, () => taskEffects);
    const second = list(3, (s) => taskEffects.map((task) => task + 0.1 + 0.01 * s));
    const { mean, interval, bySeed } = overSeeds(differences(first, second));
    expect(mean).toBeCloseTo(0.11);
    expect(bySeed[2]).toBeCloseTo(0.12);
    // Student's t with two degrees of freedom: 4.30 standard errors.
    const width = (4.3 * 0.01) / Math.sqrt(3);
    expect((interval!.high - interval!.low) / 2 / width).toBeCloseTo(1, 1);
  });

  it('says of one seed that it speaks of tasks only, and nothing of a handful of tasks', () => {
    expect(overSeeds([taskEffects])).toMatchObject({ coversSeeds: false });
    expect(overSeeds([[0, 1, 0]])).toMatchObject({ mean: 1 / 3, interval: null });
  });
});
