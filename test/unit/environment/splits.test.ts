import { describe, expect, it } from 'vitest';
import { TaskSplits } from '../../../src/core/environment/splits';
import { parseProgram } from '../../../src/core/task/row';
import { taskRow } from '../../fixtures/tasks';

const entry = (id: string, pack: string) => ({ task: parseProgram(taskRow({ id })), pack });
const splits = () =>
  new TaskSplits([
    ...['a', 'b', 'c'].map((id) => entry(id, 'backend.jsonl')),
    entry('d', 'backend-test.jsonl'),
    entry('e', 'dev.jsonl'),
  ]);
const idOf = (of: TaskSplits, choice: Parameters<TaskSplits['choose']>[0]): string =>
  of.choose(choice).task.id;

describe('the splits of an environment', () => {
  it('are the packs, whose type is in the name', () => {
    expect(splits().all.map(({ name, type }) => [name, type])).toEqual([
      ['backend', 'train'],
      ['backend-test', 'test'],
      ['dev', 'validation'],
    ]);
  });

  it('give a task by its id, by its number, by a seed, and otherwise all in order again and again', () => {
    const all = splits();
    expect(idOf(all, { task_id: 'd' })).toBe('d');
    expect(idOf(all, { split: 'backend', index: 2 })).toBe('c');
    expect(idOf(all, { seed: 9 })).toBe(idOf(splits(), { seed: 9 }));
    expect(idOf(all, { split: 'dev', seed: 9 })).toBe('e');
    const inOrder = Array.from({ length: 7 }, () => idOf(all, {}));
    expect(inOrder).toEqual(['a', 'b', 'c', 'd', 'e', 'a', 'b']);
  });

  it.each([
    [{ task_id: 'z' }, 'environment/unknown-task'],
    [{ task_id: 'a', split: 'dev' }, 'environment/unknown-task'],
    [{ index: 5 }, 'environment/unknown-task'],
    [{ split: 'z' }, 'environment/unknown-split'],
  ])('refuse %j', (choice, code) => {
    expect(() => splits().choose(choice)).toThrow(expect.objectContaining({ code }));
  });
});
