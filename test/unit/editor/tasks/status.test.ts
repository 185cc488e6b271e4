import { describe, expect, it } from 'vitest';
import { PackAssignment, partsFor } from '../../../../src/core/dialogue/packAssignment';
import {
  assignedWords,
  assignmentWords,
  counted,
  personWords,
  stateWords,
  taskStatusOf,
} from '../../../../src/editor/tasks/status';
import { english } from '../translate';

const done = { kind: 'done', episode: 'a', reward: 0.7 } as const;
const draft = { kind: 'draft', episode: 'b', turns: 3 } as const;

describe('Where a task stands', () => {
  it('is counted for a pack', () => {
    expect(counted([done, draft, done, { kind: 'skipped', episode: 'c' }, { kind: 'new' }], english)).toBe(
      '2 done · 1 draft · 1 skipped',
    );
    expect(counted([{ kind: 'redo', episode: 'd' }], english)).toBe('1 to be redone');
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
      { kind: 'redo', episode: 'd' } as const,
      { kind: 'redo', episode: 'd', reason: 'It gives the formula away' } as const,
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
      'to be redone',
      'to be redone: it gives the formula away',
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

describe('An assigned pack', () => {
  const tasks = Array.from({ length: 60 }, (_, index) => ({ id: String(index) }));
  const of = (people: readonly string[], perTask: number): PackAssignment<{ readonly id: string }> => {
    const [first, ...others] = partsFor('a.jsonl', people, perTask);
    return new PackAssignment(tasks, [first!, ...others], (id) => new Map(id === '0' ? [['ben', done]] : []));
  };

  it('tells a person their own progress and that of all, and others that of all', () => {
    const assignment = of(['ada', 'ben'], 2);
    expect(assignedWords(assignment, 'ben', english)).toEqual(['yours 1 of 60', 'all 1 of 120']);
    expect(assignedWords(assignment, 'cleo', english)).toEqual(['all 1 of 120']);
    expect(assignedWords(assignment, undefined, english)).toEqual(['all 1 of 120']);
  });

  it('says how far each person is, and of how many it says nothing', () => {
    expect(assignmentWords(of(['ada', 'ben'], 2), english)).toEqual([
      'Each task is assigned to 2 people.',
      'ada: 0 of 60 done\nben: 1 of 60 done',
    ]);
    const many = Array.from({ length: 23 }, (_, index) => `p${index}`);
    const words = assignmentWords(of(many, 1), english);
    expect(words[0]).toBe('Each task is assigned to 1 person.');
    expect(words[1]?.split('\n')).toHaveLength(21);
    expect(words[1]).toMatch(/\n… and 3 more$/);
  });

  it('has the result of each other person in words', () => {
    expect(personWords('ben', done, 10, english)).toBe('ben: 7/10 tests');
  });
});
