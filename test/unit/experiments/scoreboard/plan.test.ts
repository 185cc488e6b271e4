import { describe, expect, it } from 'vitest';
import { candidates } from '../../../../experiments/fewDialogues/plan';
import { fieldsOf, merged } from '../../../../experiments/scoreboard/cells';
import { isTrained, methods } from '../../../../experiments/scoreboard/methods';
import { comparisons, full, quick, twentyQuestions } from '../../../../experiments/scoreboard/plan';
import { isUsedBy } from '../../../../src/core/training/methods';
import { parseConfiguration } from '../../../../src/core/training/configuration';

const trained = methods.filter(isTrained);
const studied = [...trained, ...candidates.map(({ method }) => method)];

describe('the plan of the scoreboard', () => {
  it.each(studied.flatMap((method) => method.settings.map((setting) => ({ method, setting }))))(
    'has fields that a run takes: $method.name, $setting.name',
    async ({ method, setting }) => {
      const fields = merged(fieldsOf({ method, setting, seed: 1 }, { plan: full, precision: 'fp32' }), {
        model: { base: '/start' },
      });
      await expect(
        parseConfiguration(merged(fields, { data: { trajectories: [] } }), { from: 'the plan', folder: '/' }),
      ).resolves.toBeDefined();
    },
  );

  it.each(studied)('sets nothing that the method does not read: $name', ({ fields, settings }) => {
    const all = merged(fields, ...settings.map((setting) => setting.fields));
    const paths = Object.entries(all).flatMap(([group, value]) =>
      typeof value === 'object' ? Object.keys(value).map((name) => `${group}.${name}`) : [group],
    );
    expect(paths.filter((path) => !isUsedBy(all.method as string, path))).toEqual([]);
  });

  it('compares methods that it has, and the ablation those that have its setting', () => {
    const names = methods.map(({ name }) => name);
    const compared = comparisons.claims.flatMap(({ better, worse }) => [better, worse]);
    expect(names).toEqual(expect.arrayContaining([...compared, ...comparisons.newAgainst]));
    const { setting, methods: ablated } = comparisons.equal;
    const having = methods.filter(({ settings }) => settings.some(({ name }) => name === setting));
    expect(having.map(({ name }) => name).toSorted()).toEqual([...ablated].toSorted());
  });

  it('has only methods that there are, with all that they use, in the table of twenty questions', () => {
    const names = twentyQuestions.methods!;
    const planned = methods.filter(({ name }) => names.includes(name));
    expect(planned).toHaveLength(names.length);
    expect(names).toEqual(
      expect.arrayContaining(planned.flatMap((method) => (isTrained(method) ? [] : method.uses))),
    );
  });

  it.each([full, quick, twentyQuestions])(
    'keeps choice and table apart: $name',
    ({ seeds, choiceSeeds, fewSeeds }) => {
      expect(seeds.filter((seed) => choiceSeeds.includes(seed))).toEqual([]);
      expect(fewSeeds).toBeLessThanOrEqual(seeds.length);
    },
  );
});
