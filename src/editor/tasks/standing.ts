import { lowerFirst } from '../lowerFirst';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';
import type { TaskState } from './progress';

/** Where a task stands, as the list is filtered by it: its state, and for a finished dialogue the result. */
export const standings = ['new', 'draft', 'passed', 'failed', 'ungraded', 'skipped'] as const;
export type Standing = (typeof standings)[number];

export function standingOf(state: TaskState): Standing {
  if (state.kind !== 'done') return state.kind;
  if (state.reward === null || state.reward === undefined) return 'ungraded';
  return state.reward === 1 ? 'passed' : 'failed';
}

export function standingWords(standing: Standing, t: Translate): string {
  switch (standing) {
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

/** `12 submitted · 1 draft`, or nothing while nothing was played. */
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

/** What stands behind a task's title; nothing for a new one. */
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
