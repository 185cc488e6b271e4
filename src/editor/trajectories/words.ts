import { wilson } from '../../core/evaluation/interval';
import type { ImportResult } from '../../core/trajectory/import';
import type { TrajectoryCounts } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';

/** How a dialogue ended, or that it has not. */
export function outcomeWords(summary: TrajectorySummary, tests: number | undefined): string {
  if (summary.state === 'open') return 'open';
  if (summary.state === 'abandoned') return summary.abandoned ?? 'abandoned';
  const grade = summary.grades.fixed ?? summary.grades.paper;
  if (grade === undefined) return 'not graded yet';
  if (grade.reward === null) return 'not gradable here';
  const passed = grade.reward * (tests ?? 0);
  // The reward of an imported row may be of other tests than the task has here.
  const isCount = tests !== undefined && Math.abs(passed - Math.round(passed)) < 1e-6;
  return isCount
    ? `${Math.round(passed)}/${tests} tests`
    : `${Math.round(grade.reward * 100)} % of the tests`;
}

/** How long ago, in the largest unit that fits. `now`: milliseconds since 1970. */
export function ago(at: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? 'yesterday' : `${days} days ago`;
}

/**
 * `1,204 · 41 % ± 3 success · leak 0.6 %`; nothing while there is nothing. The success rate is averaged per task first,
 * and ± is half of its 95 % interval.
 */
export function headline({ total, tasks, successRate, leaked }: TrajectoryCounts): string {
  if (total === 0) return '';
  const leak = leaked === 0 ? '0' : ((100 * leaked) / total).toFixed(1);
  return [
    grouped(total),
    ...(successRate === null ? [] : [`${successWords(successRate, tasks)} success`]),
    `leak ${leak} %`,
  ].join(' · ');
}

function successWords(rate: number, tasks: number): string {
  const { low, high } = wilson(rate, tasks);
  return `${Math.round(100 * rate)} % ± ${Math.round(50 * (high - low))}`;
}

/** `1,204`. */
export const grouped = (count: number): string => count.toLocaleString('en-US');

/** `1 dialogue`, `1,204 dialogues`. */
export const dialogues = (count: number): string =>
  count === 1 ? '1 dialogue' : `${grouped(count)} dialogues`;

/** How an import went, with the first bad line. */
export function importWords({ imported, alreadyThere, bad }: ImportResult): string {
  const [first] = bad;
  const there = alreadyThere === 0 ? '' : ` ${grouped(alreadyThere)} were there already.`;
  const lines = bad.length === 1 ? '1 line' : `${grouped(bad.length)} lines`;
  const unread = first === undefined ? '' : ` ${lines} cannot be read; line ${first.line}: ${first.reason}`;
  return `${dialogues(imported)} imported.${there}${unread}`;
}
