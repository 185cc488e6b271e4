import { expect, it, vi } from 'vitest';
import { leaderboardOf, type Judgement } from '../../../../src/core/evaluation/leaderboard/leaderboard';
import { leaderboardRow } from '../../../../src/editor/models/leaderboard';

vi.mock('vscode', () => import('../vscode'));

const won: Judgement = { agents: ['starter', 'openai:gpt-4o'], picked: 0 };
const itself = { calledBy: (name: string) => name };

const rowOf = (choices: readonly Judgement[], namer = itself, log?: string) =>
  leaderboardRow(leaderboardOf(choices), namer, log);

it('has no row without a choice', () => {
  expect(rowOf([])).toBeUndefined();
});

it('says how probably each model is chosen, with its interval and its games', () => {
  const row = rowOf([won, won, won, { ...won, picked: 'equal' }]);
  expect(row).toMatchObject({ label: 'Leaderboard', description: '4 choices' });
  const [first, second, bias] = row!.below!;
  expect(first?.label).toBe('starter');
  expect(first?.description).toMatch(/^\d\d % \[\d\d–\d\d\] · 3 won, 0 lost$/);
  expect(first?.tooltip).toContain('4 choices: 3 won, 0 lost, 1 equal, 0 neither');
  expect(second?.description).toContain('0 won, 3 lost');
  expect(bias).toMatchObject({
    label: 'Position bias',
    description: 'first chosen 100 % [44–100] of 3',
    tooltip: expect.stringMatching(/^Position bias: first chosen in 100.0 %/) as string,
  });
});

it('has no figure for a model that was compared with no other', () => {
  const row = rowOf([{ agents: ['starter', 'starter'], picked: 1 }], itself, 'api');
  expect(row?.description).toBe('api · 1 choice · 1 of one model');
  expect(row?.below?.[0]).toMatchObject({ label: 'starter', description: 'no comparisons yet' });
});

it('keeps models apart that no choices connect', () => {
  const row = rowOf([won, { agents: ['a', 'b'], picked: 0 }]);
  expect(row?.below?.map(({ label, below }) => [label, below?.length])).toEqual([
    ['Group 1', 2],
    ['Group 2', 2],
    ['Position bias', undefined],
  ]);
});

it('shows the name that the person gave a model, and the whole name on hover', () => {
  const [first] = rowOf([won], { calledBy: (name) => (name === 'starter' ? 'Lab' : name) })!.below!;
  expect(first).toMatchObject({
    label: 'Lab',
    tooltip: expect.stringMatching(/^Lab \(starter\)\n/) as string,
  });
});
