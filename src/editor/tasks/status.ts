import { lowerFirst } from '../words';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';
import type { TaskState } from './progress';

/** States of a task for the list's filter; a finished dialogue counts by its result. */
export const taskStatuses = ['new', 'draft', 'passed', 'failed', 'ungraded', 'skipped'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export function taskStatusOf(state: TaskState): TaskStatus {
  if (state.kind !== 'done') return state.kind;
  if (state.reward === null || state.reward === undefined) return 'ungraded';
  return state.reward === 1 ? 'passed' : 'failed';
}

export function taskStatusWords(status: TaskStatus, t: Translate): string {
  switch (status) {
    case 'new':
      return t('new');
    case 'draft':
      return t('draft');
    case 'passed':
      return t('done: all tests passed');
    case 'failed':
      return t('done: some tests failed');
    case 'ungraded':
      return t('done: not graded');
    case 'skipped':
      return t('skipped');
  }
}

/** Returns for example `12 done · 1 draft`; empty while nothing was played. */
export function counted(states: readonly TaskState[], t: Translate): string {
  const counts = { new: 0, done: 0, draft: 0, skipped: 0 };
  for (const { kind } of states) counts[kind] += 1;
  const parts = [
    ...(counts.done === 0 ? [] : [t('{0} done', counts.done)]),
    ...(counts.draft === 0 ? [] : [t('{0} draft', counts.draft)]),
    ...(counts.skipped === 0 ? [] : [t('{0} skipped', counts.skipped)]),
  ];
  return parts.join(' · ');
}

/** Returns the words after a task's title; empty for a new task. */
export function stateWords(state: TaskState, tests: number, t: Translate): string {
  switch (state.kind) {
    case 'new':
      return '';
    case 'draft':
      if (state.turns === 0) return t('draft');
      return state.turns === 1 ? t('draft, 1 turn') : t('draft, {0} turns', state.turns);
    case 'skipped':
      return state.reason === undefined
        ? t('skipped')
        : t('skipped: {0}', lowerFirst(reasonWords(state.reason, t)));
    case 'done':
      if (state.reward === undefined) return t('not graded yet');
      if (state.reward === null) return t('not gradable here');
      return t('{0}/{1} tests', Math.round(state.reward * tests), tests);
  }
}
