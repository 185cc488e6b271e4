import type { PackAssignment } from '../../core/dialogue/packAssignment';
import type { TaskState } from '../../core/dialogue/taskProgress';
import { verdictOf } from '../../core/grading/grade';
import { lowerFirst } from '../words';
import type { ListedTask } from '../packs';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';

export const MAX_OTHER_PLAYERS = 20;

type Assigned = PackAssignment<{ readonly id: string }>;

/** States of a task for the list's filter; a finished dialogue counts by its result. */
export const taskStatuses = [
  'new',
  'draft',
  'redo',
  'passed',
  'partial',
  'failed',
  'ungraded',
  'skipped',
] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export function taskStatusOf(state: TaskState): TaskStatus {
  if (state.kind !== 'done') return state.kind;
  return verdictOf({ reward: state.reward ?? null, success: state.reward === 1 }) ?? 'ungraded';
}

export function taskStatusWords(status: TaskStatus, t: Translate): string {
  switch (status) {
    case 'new':
      return t('new');
    case 'draft':
      return t('draft');
    case 'redo':
      return t('to be redone');
    case 'passed':
      return t('done: all tests passed');
    case 'partial':
      return t('done: some tests passed');
    case 'failed':
      return t('done: no test passed');
    case 'ungraded':
      return t('done: not graded');
    case 'skipped':
      return t('skipped');
  }
}

/** Returns for example `12 done · 1 draft`; empty while nothing was played. */
export function counted(states: readonly TaskState[], t: Translate): string {
  const counts = { new: 0, done: 0, draft: 0, redo: 0, skipped: 0 };
  for (const { kind } of states) counts[kind] += 1;
  const parts = [
    ...(counts.done === 0 ? [] : [t('{0} done', counts.done)]),
    ...(counts.draft === 0 ? [] : [t('{0} draft', counts.draft)]),
    ...(counts.redo === 0 ? [] : [t('{0} to be redone', counts.redo)]),
    ...(counts.skipped === 0 ? [] : [t('{0} skipped', counts.skipped)]),
  ];
  return parts.join(' · ');
}

/** Returns for example `yours 12 of 40` and `all 55 of 120`; only the second for a person without a part. */
export function assignedWords(assignment: Assigned, person: string | undefined, t: Translate): string[] {
  const all = assignment.progress;
  const hasPart = person !== undefined && assignment.people.includes(person);
  const own = hasPart ? assignment.progressOf(person) : undefined;
  return [
    ...(own === undefined ? [] : [t('yours {0} of {1}', own.done, own.of)]),
    t('all {0} of {1}', all.done, all.of),
  ];
}

export function assignmentWords(assignment: Assigned, t: Translate): string[] {
  const { people, perTask } = assignment;
  const each = people.map((person) => {
    const { done, of } = assignment.progressOf(person);
    return t('{0}: {1} of {2} done', person, done, of);
  });
  const begin =
    perTask === 1
      ? t('Each task is assigned to 1 person.')
      : t('Each task is assigned to {0} people.', perTask);
  return [begin, cutTo(MAX_OTHER_PLAYERS, each, t).join('\n')];
}

/** Returns for example `ben: 7/10 tests`. */
export function personWords(person: string, state: TaskState, task: TaskSize, t: Translate): string {
  return t('{0}: {1}', person, stateWords(state, task, t));
}

export const numberOfTasks = (count: number, t: Translate): string =>
  count === 1 ? t('1 task') : t('{0} tasks', count);

export function cutTo(most: number, lines: readonly string[], t: Translate): string[] {
  const left = lines.length - most;
  return left > 0 ? [...lines.slice(0, most), t('… and {0} more', left)] : [...lines];
}

/** How many tests a task has, or that it is a page, which has a score instead. */
export type TaskSize = Pick<ListedTask, 'tests' | 'kind'>;

export function stateWords(state: TaskState, { tests, kind }: TaskSize, t: Translate): string {
  switch (state.kind) {
    case 'new':
      return '';
    case 'draft':
      if (state.turns === 0) return t('draft');
      return state.turns === 1 ? t('draft, 1 turn') : t('draft, {0} turns', state.turns);
    case 'redo':
      return state.reason === undefined
        ? t('to be redone')
        : t('to be redone: {0}', lowerFirst(reasonWords(state.reason, t)));
    case 'skipped':
      return state.reason === undefined
        ? t('skipped')
        : t('skipped: {0}', lowerFirst(reasonWords(state.reason, t)));
    case 'done':
      if (state.reward === undefined) return t('not graded yet');
      if (state.reward === null) return t('not gradable here');
      if (kind === 'page') return t('score {0}', state.reward.toFixed(2));
      return t('{0}/{1} tests', Math.round(state.reward * tests), tests);
  }
}

const UNFINISHED: ReadonlySet<TaskState['kind']> = new Set(['new', 'draft', 'redo']);

/** After a given task first, then from the beginning. Tasks to be redone count as unfinished, skipped ones do not. */
export function nextUnfinished<T extends { readonly id: string }>(
  tasks: readonly T[],
  after: string | undefined,
  state: (task: T) => TaskState,
): T | undefined {
  const start = tasks.findIndex(({ id }) => id === after) + 1;
  const inOrder = [...tasks.slice(start), ...tasks.slice(0, start)];
  return inOrder.find((task) => task.id !== after && UNFINISHED.has(state(task).kind));
}
