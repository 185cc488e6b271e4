import { expect, test } from 'vitest';
import { Random } from '../../../../src/core/task/starter/draw';
import { HalvingTree } from '../../../../src/core/evaluation/questionFigures';

/** One row of answers for each thing, such as '110'. */
const treeOf = (...rows: readonly string[]): HalvingTree =>
  new HalvingTree(rows.map((row) => Array.from(row, (answer) => answer === '1')));

test('four things told apart by two halves need two questions', () => {
  const tree = treeOf('110', '100', '010', '000');
  expect(tree.fewest(tree.all)).toBe(2);
  expect(tree.regret(tree.all, 0)).toBe(0);
  expect(tree.bits(tree.all, 0)).toBe(1);
});

test('a question that singles out one of four tells 0.81 bits and loses a quarter of a question', () => {
  const tree = treeOf('1110', '1000', '0100', '0000');
  // Three things are left in three of four cases, and need 5/3 questions: 1 + 3/4 · 5/3 = 2.25.
  expect(tree.regret(tree.all, 2)).toBeCloseTo(0.25);
  expect(tree.bits(tree.all, 2)).toBeCloseTo(0.8113, 4);
  expect(tree.fewest([1, 2, 3])).toBeCloseTo(5 / 3);
});

test('a question whose answer is known tells nothing and loses a whole question', () => {
  const tree = treeOf('110', '100', '010', '000');
  expect([tree.bits(tree.all, 2), tree.regret(tree.all, 2)]).toEqual([0, 1]);
  const left = tree.after(tree.all, 0, true);
  expect(left).toEqual([0, 1]);
  expect([tree.bits(left, 0), tree.regret(left, 0)]).toEqual([0, 1]);
  expect([tree.fewest([3]), tree.regret([3], 1)]).toEqual([0, 1]);
});

test('five things that can only be named one by one need 2.8 questions', () => {
  const tree = treeOf('10000', '01000', '00100', '00010', '00001');
  // Found after 1, 2, 3, 4 and 4 questions.
  expect(tree.fewest(tree.all)).toBeCloseTo(14 / 5);
  expect(tree.regret(tree.all, 3)).toBeCloseTo(0);
});

test('refuses things that no question tells apart', () => {
  expect(() => treeOf('10', '10', '01')).toThrow('No question tells some of the things apart.');
});

test('of eight things with unequal questions it finds what trying all trees finds', () => {
  const random = new Random(1);
  for (let i = 0; i < 40; i++) {
    const rows = new Set<string>();
    while (rows.size < 8)
      rows.add(Array.from({ length: 6 }, () => (random.number() < 0.3 ? '1' : '0')).join(''));
    const tree = treeOf(...rows);
    expect(tree.fewest(tree.all) * 8).toBeCloseTo(shortest([...rows]));
  }
});

/** Least sum of the questions that find each thing, over all trees. */
function shortest(rows: readonly string[]): number {
  const lengths = Array.from(rows[0]!, (_, question) => {
    const [yes, no] = ['1', '0'].map((answer) => rows.filter((row) => row[question] === answer));
    return yes!.length === 0 || no!.length === 0 ? Infinity : rows.length + shortest(yes!) + shortest(no!);
  });
  return rows.length < 2 ? 0 : Math.min(...lengths);
}
