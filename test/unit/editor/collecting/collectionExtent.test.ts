import { expect, it } from 'vitest';
import { extentOf, playedAmong } from '../../../../src/editor/collecting/collectionExtent';

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
