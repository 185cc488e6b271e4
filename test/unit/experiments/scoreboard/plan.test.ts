import { describe, expect, it } from 'vitest';
import { merged } from '../../../../experiments/scoreboard/attempt';
import { common, full, methods, quick, targets, trying } from '../../../../experiments/scoreboard/plan';

describe('the plan', () => {
  const trained = methods.filter(({ fields }) => fields !== null);

  it('gives every trained method as many settings to choose from, all of them different', () => {
    for (const { settings, fields } of trained) {
      const runs = settings.map((setting) => JSON.stringify(merged(common, fields!, setting.fields)));
      expect(new Set(runs).size).toBe(full.settings);
    }
  });

  it('reports other trainings than those that settings were chosen by', () => {
    expect(full.seeds).toHaveLength(5);
    expect(full.choiceSeeds.filter((seed) => full.seeds.includes(seed))).toEqual([]);
  });

  it('plays at least 500 test tasks, and rolls to a standard error of 0.05 on at least 200 states', () => {
    expect(full.test.tasks).toBeGreaterThanOrEqual(500);
    expect(2 * full.credit.states).toBeGreaterThanOrEqual(200);
    expect(full.credit.standardError).toBeLessThanOrEqual(0.05);
    // A success rate of one half needs the most rolls.
    expect(full.credit.mostRolls).toBeGreaterThanOrEqual(0.25 / full.credit.standardError ** 2);
  });

  it('reports the first training of a choice that leaves nothing to choose', () => {
    expect(trying(2, [1, 2])).toEqual({ settings: 2, choiceSeeds: full.choiceSeeds });
    expect(trying(1, [4, 5])).toEqual({ settings: 1, choiceSeeds: [4] });
  });

  it('is the same in the quick one but for its size', () => {
    const { difficulty, protocol, maxTokens } = full;
    expect(quick).toMatchObject({ difficulty, protocol, maxTokens });
  });

  it('names methods that exist where it says what is to be shown', () => {
    const names = methods.map(({ name }) => name);
    for (const { better, worse } of targets) expect(names).toEqual(expect.arrayContaining([better, worse]));
  });
});

describe('fields of a run', () => {
  it('are merged two levels deep, later ones before earlier ones', () => {
    expect(
      merged({ policy: { beta: 0.1, nll: 1 }, seed: 0 }, { policy: { beta: 0.5 } }, { seed: 3 }),
    ).toEqual({
      policy: { beta: 0.5, nll: 1 },
      seed: 3,
    });
  });
});
