import { expect, it } from 'vitest';
import { playedAmong } from '../../../../src/editor/collecting/extent';

it('counts what was played of these tasks and dialogues, and nothing else', () => {
  const tasks = [{ id: 'fees' }, { id: 'a#1' }];
  const played = ['fees#0', 'fees#1', 'fees#2', 'a#1#1', 'other#0'];
  expect(playedAmong({ tasks, rollouts: 2 }, played)).toBe(3);
  expect(playedAmong({ tasks: tasks.slice(1), rollouts: 1 }, played)).toBe(0);
});
