import { describe, expect, it } from 'vitest';
import { counted, taskStatusOf, stateWords } from '../../../../src/editor/tasks/status';
import { english } from '../translate';

const done = { kind: 'done', episode: 'a', reward: 0.7 } as const;
const draft = { kind: 'draft', episode: 'b', turns: 3 } as const;

describe('Where a task stands', () => {
  it('is counted for a pack', () => {
    expect(counted([done, draft, done, { kind: 'skipped', episode: 'c' }, { kind: 'new' }], english)).toBe(
      '2 done · 1 draft · 1 skipped',
    );
    expect(counted([{ kind: 'new' }], english)).toBe('');
  });

  it('stands behind its title in words', () => {
    const words = [
      { kind: 'new' } as const,
      draft,
      { ...draft, turns: 1 },
      { ...draft, turns: 0 },
      done,
      { ...done, reward: null },
      { ...done, reward: undefined },
      { kind: 'skipped', episode: 'c' } as const,
      { kind: 'skipped', episode: 'c', reason: 'The request is unclear' } as const,
    ].map((state) => stateWords(state, 10, english));
    expect(words).toEqual([
      '',
      'draft, 3 turns',
      'draft, 1 turn',
      'draft',
      '7/10 tests',
      'not gradable here',
      'not graded yet',
      'skipped',
      'skipped: the request is unclear',
    ]);
  });

  it('keeps an acronym at the beginning of a reason as it is', () => {
    const state = { kind: 'skipped', episode: 'c', reason: 'IBAN rules are missing' } as const;
    expect(stateWords(state, 1, english)).toBe('skipped: IBAN rules are missing');
  });

  it('tells a finished dialogue by its result', () => {
    expect(taskStatusOf({ ...done, reward: 1 })).toBe('passed');
    expect(taskStatusOf({ ...done, reward: 0 })).toBe('failed');
    expect(taskStatusOf({ ...done, reward: null })).toBe('ungraded');
    expect(taskStatusOf(draft)).toBe('draft');
  });
});
