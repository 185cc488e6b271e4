import { describe, expect, it, vi } from 'vitest';
import type { TaskState } from '../../../../src/core/dialogue/taskProgress';
import { nextUnfinished } from '../../../../src/editor/tasks/items';

vi.mock('vscode', () => import('../vscode'));

describe('The next task', () => {
  const states: Readonly<Record<string, TaskState>> = {
    one: { kind: 'draft', episode: 'b', turns: 3 },
    two: { kind: 'done', episode: 'a', reward: 0.7 },
    three: { kind: 'new' },
    four: { kind: 'skipped', episode: 'd' },
    five: { kind: 'redo', episode: 'e' },
  };
  const next = (after?: string, ids = Object.keys(states)): string | undefined =>
    nextUnfinished(
      ids.map((id) => ({ id })),
      after,
      ({ id }) => states[id]!,
    )?.id;

  it('is the first that is not played to its end, from the beginning after the end', () => {
    expect(next()).toBe('one');
    expect(next('one')).toBe('three');
    expect(next('three')).toBe('five');
    expect(next('five')).toBe('one');
  });
});
