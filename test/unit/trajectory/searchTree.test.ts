import { describe, expect, it } from 'vitest';
import {
  branchingOf,
  endingsOf,
  pathOf,
  treePurpose,
  branchesIn,
  valueOf,
} from '../../../src/core/trajectory/searchTree';

const endings = (branches: number, successes: readonly number[], count = endingsOf(branches)) =>
  Array.from({ length: count }, (_, rollout) => ({
    path: pathOf(rollout, branches),
    success: successes.includes(rollout),
  }));

describe('a search tree', () => {
  it('numbers its endings by the branches of generator, verifier and refiner', () => {
    expect(pathOf(5 * 3 + 2, 3)).toEqual([1, 2, 2]);
    expect(branchesIn(`${treePurpose(3)}-0123456789ab`)).toBe(3);
    expect(branchesIn('collection-0123456789ab')).toBeUndefined();
  });

  it.each([
    [0, undefined],
    [1, { role: 'refiner', from: 0 }],
    [6, { role: 'verifier', from: 0 }],
    [7, { role: 'refiner', from: 6 }],
    [18, { role: 'generator', from: 0 }],
    [26, { role: 'refiner', from: 24 }],
  ])('ending %i of three branches a role begins as %o', (rollout, branching) => {
    expect(branchingOf(rollout, 3)).toEqual(branching);
  });

  it('has values from the leaves up', () => {
    // Verifiers of the first draft: 3/3, 1/3, 0/3; of the second 2/3, 2/3, 1/3; of the third none.
    const tree = endings(3, [0, 1, 2, 4, 9, 10, 12, 13, 17]);
    const values = [[0, 0], [0, 1], [0], [1, 2], [1], [2], []].map((node) => valueOf(tree, node));
    const wanted = [1, 1 / 3, 4 / 9, 1 / 3, 5 / 9, 0, 1 / 3];
    for (const [index, value] of values.entries()) expect(value).toBeCloseTo(wanted[index]!, 12);
    expect(valueOf(tree, [0, 1, 1])).toBe(1);
  });

  it('counts each child once where some of them ended early', () => {
    const early = endings(2, [1, 2]).filter(({ path }) => path.join() !== '0,1,1');
    expect(valueOf(early, [0])).toBe(0.75);
  });
});
