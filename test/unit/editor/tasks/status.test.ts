import { expect, it, vi } from 'vitest';
import { PackAssignment, partsFor } from '../../../../src/core/dialogue/packAssignment';
import type { TaskState } from '../../../../src/core/dialogue/taskProgress';
import {
  assignedWords,
  assignmentWords,
  counted,
  stateWords,
  taskStatusOf,
} from '../../../../src/editor/tasks/items';
import { english } from '../translate';

vi.mock('vscode', () => import('../vscode'));

const done = { kind: 'done', episode: 'a', reward: 0.7 } as const;
const draft = { kind: 'draft', episode: 'b', turns: 3 } as const;

it('a pack counts where its tasks stand', () => {
  const states = [done, draft, done, { kind: 'skipped', episode: 'c' }, { kind: 'new' }] as const;
  expect(counted(states, english)).toBe('2 done · 1 draft · 1 skipped');
  expect(counted([{ kind: 'new' }], english)).toBe('');
});

it.each<[TaskState, string, string]>([
  [draft, 'draft', 'draft, 3 turns'],
  [done, 'partial', '7/10 tests'],
  [{ ...done, reward: 0 }, 'failed', '0/10 tests'],
  [{ ...done, reward: 1 }, 'passed', '10/10 tests'],
  [{ ...done, reward: null }, 'ungraded', 'not gradable here'],
  [
    { kind: 'skipped', episode: 'c', reason: 'The request is unclear' },
    'skipped',
    'skipped: the request is unclear',
  ],
  [
    { kind: 'skipped', episode: 'c', reason: 'IBAN rules are missing' },
    'skipped',
    'skipped: IBAN rules are missing',
  ],
])('a task that is %j has the status %s and the words %s', (state, status, words) => {
  expect([taskStatusOf(state), stateWords(state, { tests: 10 }, english)]).toEqual([status, words]);
});

it('an assigned pack tells a person their own progress and that of all, and others that of all', () => {
  const tasks = Array.from({ length: 60 }, (_, index) => ({ id: String(index) }));
  const of = (people: readonly string[], perTask: number): PackAssignment<{ readonly id: string }> => {
    const [first, ...others] = partsFor('a.jsonl', people, perTask);
    return new PackAssignment(tasks, [first!, ...others], (id) => new Map(id === '0' ? [['ben', done]] : []));
  };
  const assignment = of(['ada', 'ben'], 2);
  expect(assignedWords(assignment, 'ben', english)).toEqual(['yours 1 of 60', 'all 1 of 120']);
  expect(assignedWords(assignment, undefined, english)).toEqual(['all 1 of 120']);
  expect(assignmentWords(assignment, english)[1]).toBe('ada: 0 of 60 done\nben: 1 of 60 done');
  const many = Array.from({ length: 23 }, (_, index) => `p${index}`);
  expect(assignmentWords(of(many, 1), english)[1]?.split('\n')).toHaveLength(21);
});
