import { expect, it, vi } from 'vitest';
import {
  estimateWords,
  extentOf,
  playedAmong,
  type Player,
} from '../../../../src/editor/collecting/askExtent';

vi.mock('vscode', () => import('../vscode'));

const use = { turns: 30, replies: 0, promptTokens: 200_000, completionTokens: 10_000, uncounted: 0 };
const free: Player = { name: 'Own', use, played: 10, sides: 10, plays: 1 };
const lab: Player = { ...free, name: 'Lab', price: { prompt: 1, completion: 10 } };
const none = { ...use, promptTokens: 0, completionTokens: 0, uncounted: 30 };
const unknown = { use: undefined, played: 0, sides: 0 };

it.each<[string, number, readonly Player[], RegExp]>([
  ['by the dialogues before', 13, [free], /^About 260,000 .* 13,000 .* by 10 dialogues/],
  ['with the cost where a model has a price', 100, [lab], / 2,000,000 .* 100,000 .* \$3\.00/],
  ['of both sides, by the fewer dialogues', 10, [lab, { ...free, played: 5, sides: 5 }], / 600,000 .* by 5 /],
  ['twice for a model that plays both sides', 10, [{ ...free, plays: 2 }], /400,000 .* 20,000/],
  ['by the sides that were played before', 10, [{ ...free, sides: 20, plays: 2 }], /200,000 .* 10,000/],
  ['with two digits', 1, [{ ...free, played: 7, sides: 7 }], /29,000 .* 1,400/],
  [
    'as too low where tokens were not counted',
    10,
    [{ ...free, use: { ...use, uncounted: 3 } }],
    /^At least /,
  ],
  ['not at all where no model counts tokens', 10, [{ ...lab, use: none }], /^$/],
  ['not before a model has played', 100, [lab, { ...free, ...unknown }], /^Tokens .* Own has played/],
])('the use of tokens is estimated %s', (_, dialogues, players, words) => {
  expect(estimateWords(dialogues, players)).toMatch(words);
});

it('counts what was played of these tasks and dialogues, and nothing else', () => {
  const tasks = [{ id: 'fees' }, { id: 'a#1' }];
  const played = ['fees#0', 'fees#1', 'fees#2', 'a#1#1', 'other#0'];
  expect(playedAmong({ tasks, rollouts: 2 }, played)).toBe(3);
  expect(playedAmong({ tasks: tasks.slice(1), rollouts: 1 }, played)).toBe(0);
});

const named = (name: string, count: number): { readonly id: string }[] =>
  Array.from({ length: count }, (_, number) => ({ id: `${name}#${number}` }));
const tasks = named('task', 30);
const gone = named('gone', 100);
const played = (of: readonly { readonly id: string }[]): string[] =>
  of.flatMap(({ id }) => [0, 1, 2, 3].map((rollout) => `${id}#${rollout}`));

it.each([
  ['some tasks at first', [], 24, [24, 4]],
  ['as many again until all of them are played', played(tasks.slice(0, 23)), 24, [24, 4]],
  ['then more tasks, and more dialogues of each', played(tasks.slice(0, 24)), 24, [30, 7]],
  ['all tasks of a small pack where many are suggested', [], 400, [30, 4]],
  ['more dialogues of all where all are played', played(tasks), 400, [30, 8]],
  ['nothing less for tasks that no pack has any more', played(gone), 24, [24, 4]],
] as const)('suggests %s', (_, keys, suggested, extent) => {
  const { tasks: some, rollouts } = extentOf(tasks, keys, suggested);
  expect([some.length, rollouts]).toEqual(extent);
});
