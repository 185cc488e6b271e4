import { wilson } from '../../core/evaluation/interval';
import type { EventOf } from '../../core/trajectory/event';
import type { ImportResult } from '../../core/trajectory/import';
import type { TrajectoryCounts } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { Translate } from '../translate';

/** How a dialogue ended, or that it has not. */
export function outcomeWords(summary: TrajectorySummary, tests: number | undefined, t: Translate): string {
  if (summary.state === 'open') return t('in progress');
  if (summary.state === 'abandoned') return abandonedWords(summary.abandoned, t);
  const grade = summary.grades.fixed ?? summary.grades.paper;
  // A developer's own function has no tests, and is never graded.
  if (grade === undefined) return tests === 0 ? t('answered') : t('not graded yet');
  if (grade.reward === null) return t('not gradable here');
  const passed = grade.reward * (tests ?? 0);
  // The reward of an imported row may be of other tests than the task has here.
  const isCount = tests !== undefined && Math.abs(passed - Math.round(passed)) < 1e-6;
  return isCount
    ? t('{0}/{1} tests', Math.round(passed), tests)
    : t('{0} % of the tests', Math.round(grade.reward * 100));
}

/** What became of an answer to a developer's own function, which no test judges. */
export function becameWords(became: EventOf<'outcome'>, t: Translate): string {
  const { outcome, survived } = became;
  if (outcome === 'rejected') return t('answered, rejected');
  if (survived === undefined) return t('answered, accepted');
  return t('answered, accepted, {0} % of its lines left', Math.floor(100 * survived));
}

export function abandonedWords(reason: TrajectorySummary['abandoned'], t: Translate): string {
  switch (reason) {
    case 'cancelled':
      return t('cancelled');
    case 'failed':
      return t('failed');
    case 'skipped':
      return t('skipped');
    case undefined:
      return t('abandoned');
  }
}

/** How long ago, in the largest unit that fits. `now`: milliseconds since 1970. */
export function ago(at: string, now: number, t: Translate): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  if (seconds < 60) return t('just now');
  if (seconds < 3600) return t('{0} min ago', Math.floor(seconds / 60));
  if (seconds < 86_400) return t('{0} h ago', Math.floor(seconds / 3600));
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? t('yesterday') : t('{0} days ago', days);
}

/** With fewer tasks an interval says next to nothing. */
const ENOUGH_TASKS = 20;

/**
 * `1,204 · 41 % success (38–44 %) · 0.6 % leaked`; nothing while there is nothing. The success rate is averaged per task
 * first, and its 95 % interval stands behind it when there are 20 tasks.
 */
export function headline(counts: TrajectoryCounts, t: Translate): string {
  const { total, leaked } = counts;
  if (total === 0) return '';
  const leak = leaked === 0 ? '0' : ((100 * leaked) / total).toFixed(1);
  return [countWords(counts, t), t('{0} % leaked', leak)].join(' · ');
}

/** The same without the leaks. */
export const countWords = ({ total, tasks, successRate }: TrajectoryCounts, t: Translate): string =>
  [grouped(total), ...(successRate === null ? [] : [successWords(successRate, tasks, t)])].join(' · ');

function successWords(rate: number, tasks: number, t: Translate): string {
  const percent = (fraction: number): number => Math.round(100 * fraction);
  if (tasks < ENOUGH_TASKS) return t('{0} % success', percent(rate));
  const { low, high } = wilson(rate, tasks);
  return t('{0} % success ({1}–{2} %)', percent(rate), percent(low), percent(high));
}

/** `1,204`. */
export const grouped = (count: number): string => count.toLocaleString('en-US');

/** `1 dialogue`, `1,204 dialogues`. */
export const dialogues = (count: number, t: Translate): string =>
  count === 1 ? t('1 dialogue') : t('{0} dialogues', grouped(count));

/** How an import went, with the first bad line. */
export function importWords({ imported, alreadyThere, bad }: ImportResult, t: Translate): string {
  const [first] = bad;
  return [
    t('{0} imported.', dialogues(imported, t)),
    ...(alreadyThere === 0 ? [] : [t('{0} were there already.', grouped(alreadyThere))]),
    ...(first === undefined ? [] : [unreadWords(bad.length, first, t)]),
  ].join(' ');
}

function unreadWords(count: number, { line, reason }: ImportResult['bad'][number], t: Translate): string {
  return count === 1
    ? t('1 line cannot be read; line {0}: {1}', line, reason)
    : t('{0} lines cannot be read; line {1}: {2}', grouped(count), line, reason);
}
