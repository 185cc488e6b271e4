import { grouped } from '../../core/text';
import { wilson } from '../../core/evaluation/interval';
import type { EventOf } from '../../core/trajectory/event';
import { SESSIONS } from '../../core/trajectory/index/filter';
import type { TrajectoryCounts } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { withVisibleControls } from '../../../webview/dialogue/protocol';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';

export function outcomeWords(summary: TrajectorySummary, tests: number | undefined, t: Translate): string {
  if (summary.state === 'open') return t('in progress');
  if (summary.state === 'abandoned') return abandonedWords(summary.abandoned, t);
  const grade = summary.grades.fixed ?? summary.grades.paper;
  // A developer's own function has no tests, and is never graded.
  if (grade === undefined && summary.collection?.startsWith(SESSIONS) === true) return t('no tests');
  if (grade === undefined) return tests === 0 ? t('answered') : t('not graded yet');
  if (grade.reward === null) return t('not gradable here');
  if (grade.success === null) return t('page, {0}', grade.reward.toFixed(2));
  const passed = grade.reward * (tests ?? 0);
  // The reward of an imported row may come from other tests than the task has here.
  const isCount = tests !== undefined && Math.abs(passed - Math.round(passed)) < 1e-6;
  return isCount
    ? t('{0}/{1} tests', Math.round(passed), tests)
    : t('{0} % of the tests', Math.round(grade.reward * 100));
}

export function becameWords(became: EventOf<'outcome'>, t: Translate): string {
  const { outcome, survived } = became;
  if (outcome === 'rejected') return t('answered, rejected');
  if (survived === undefined) return t('answered, accepted');
  return t('answered, accepted, {0} % of its lines left', Math.floor(100 * survived));
}

export const abandonedWords = (reason: TrajectorySummary['abandoned'], t: Translate): string =>
  ({ cancelled: t('canceled'), failed: t('failed'), skipped: t('skipped'), unknown: t('abandoned') })[
    reason ?? 'unknown'
  ];

/** Characters of a title or tag, and of a note, that a row and its hover show; a log of others may hold more. */
const MAX_SHOWN_CHARS = { line: 100, note: 1000 };
const MAX_TAGS = 3;

export const givenTitle = ({ title }: TrajectorySummary): string | undefined =>
  title === undefined ? undefined : safe(title, MAX_SHOWN_CHARS.line);

/** Returns the pseudonym of the player; empty without one, and for the person at this editor. */
export const playedBy = ({ player }: TrajectorySummary, own: string | undefined): string[] =>
  player === undefined || player === own ? [] : [safe(player, MAX_SHOWN_CHARS.line)];

export const allTags = ({ tags = [] }: TrajectorySummary): string[] =>
  tags.map((tag) => `#${safe(tag, MAX_SHOWN_CHARS.line)}`);

export function tagsInShort(summary: TrajectorySummary): string[] {
  const tags = allTags(summary);
  const more = tags.length - MAX_TAGS;
  return tags.length === 0 ? [] : [...tags.slice(0, MAX_TAGS), ...(more > 0 ? [`+${more}`] : [])];
}

export const notes = ({ note }: TrajectorySummary): string[] => (note === undefined ? [] : [shownNote(note)]);

export const shownNote = (note: string): string => safe(note, MAX_SHOWN_CHARS.note);

export const shownReason = (reason: string, t: Translate): string =>
  safe(reasonWords(reason, t), MAX_SHOWN_CHARS.note);

export const shownName = (name: string): string => safe(name, MAX_SHOWN_CHARS.line);

const safe = (text: string, most: number): string =>
  withVisibleControls(text.length > most ? `${text.slice(0, most)}…` : text);

/** Minimum number of tasks for an interval; with fewer it says next to nothing. */
const MIN_TASKS = 20;

/**
 * Returns for example `1,204 · 41 % success (38–44 %) · 0.6 % leaked`; empty without dialogues. The success rate is
 * averaged per task first, and its 95 % interval follows when there are 20 tasks.
 */
export function headline(counts: TrajectoryCounts, t: Translate): string {
  const { total, leaked } = counts;
  if (total === 0) return '';
  const leak = leaked === 0 ? [] : [t('{0} % leaked', ((100 * leaked) / total).toFixed(1))];
  return [countWords(counts, t), ...leak].join(' · ');
}

export const countWords = ({ total, tasks, successRate }: TrajectoryCounts, t: Translate): string =>
  [grouped(total), ...(successRate === null ? [] : [successWords(successRate, tasks, t)])].join(' · ');

function successWords(rate: number, tasks: number, t: Translate): string {
  const percent = (fraction: number): number => Math.round(100 * fraction);
  if (tasks < MIN_TASKS) return t('{0} % success', percent(rate));
  const { low, high } = wilson(rate, tasks);
  return t('{0} % success ({1}–{2} %)', percent(rate), percent(low), percent(high));
}
