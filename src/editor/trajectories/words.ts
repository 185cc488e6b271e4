import { grouped } from '../../core/text';
import { wilson } from '../../core/evaluation/interval';
import type { EventOf } from '../../core/trajectory/event';
import type { ImportResult } from '../../core/trajectory/import';
import type { Merged, TrajectoryCounts } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { withVisibleControls } from '../../../webview/dialogue/protocol';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';
import { dialogues } from '../words';

export function outcomeWords(summary: TrajectorySummary, tests: number | undefined, t: Translate): string {
  if (summary.state === 'open') return t('in progress');
  if (summary.state === 'abandoned') return abandonedWords(summary.abandoned, t);
  const grade = summary.grades.fixed ?? summary.grades.paper;
  // A developer's own function has no tests, and is never graded.
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

/** Returns the outcome of an answer to a developer's own function, which has no tests. */
export function becameWords(became: EventOf<'outcome'>, t: Translate): string {
  const { outcome, survived } = became;
  if (outcome === 'rejected') return t('answered, rejected');
  if (survived === undefined) return t('answered, accepted');
  return t('answered, accepted, {0} % of its lines left', Math.floor(100 * survived));
}

export function abandonedWords(reason: TrajectorySummary['abandoned'], t: Translate): string {
  switch (reason) {
    case 'cancelled':
      return t('canceled');
    case 'failed':
      return t('failed');
    case 'skipped':
      return t('skipped');
    case undefined:
      return t('abandoned');
  }
}

/** Characters of a title or tag, and of a note, that a row and its hover show; a log of others may hold more. */
const MAX_SHOWN_CHARS = { line: 100, note: 1000 };
/** Number of tags in a row; its hover has all. */
const MAX_TAGS = 3;

export const givenTitle = ({ title }: TrajectorySummary): string | undefined =>
  title === undefined ? undefined : safe(title, MAX_SHOWN_CHARS.line);

/** Returns the pseudonym of the player; empty without one, and for the person at this editor. */
export const playedBy = ({ player }: TrajectorySummary, own: string | undefined): string[] =>
  player === undefined || player === own ? [] : [safe(player, MAX_SHOWN_CHARS.line)];

export const allTags = ({ tags = [] }: TrajectorySummary): string[] =>
  tags.map((tag) => `#${safe(tag, MAX_SHOWN_CHARS.line)}`);

/** Returns the first tags, and how many more there are: `#odd #slow +2`. */
export function tagsInShort(summary: TrajectorySummary): string[] {
  const tags = allTags(summary);
  const more = tags.length - MAX_TAGS;
  return tags.length === 0 ? [] : [...tags.slice(0, MAX_TAGS), ...(more > 0 ? [`+${more}`] : [])];
}

export const notes = ({ note }: TrajectorySummary): string[] => (note === undefined ? [] : [shownNote(note)]);

export const shownNote = (note: string): string => safe(note, MAX_SHOWN_CHARS.note);

export const shownReason = (reason: string, t: Translate): string =>
  safe(reasonWords(reason, t), MAX_SHOWN_CHARS.note);

const shownName = (name: string): string => safe(name, MAX_SHOWN_CHARS.line);

/** Cuts a person's text, and makes its invisible characters visible. */
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

export function importWords(
  { imported, alreadyThere, bad }: Pick<ImportResult, 'imported' | 'alreadyThere' | 'bad'>,
  t: Translate,
): string {
  const [first] = bad;
  return [
    t('{0} imported.', dialogues(imported, t)),
    ...(alreadyThere === 0 ? [] : [t('{0} were there already.', grouped(alreadyThere))]),
    ...(first === undefined ? [] : [unreadWords(bad.length, first, t)]),
  ].join(' ');
}

export function mergeWords(
  { imported, deleted, different }: Pick<Merged, 'imported' | 'deleted' | 'different'>,
  t: Translate,
): string {
  return [
    t('{0} imported.', dialogues(imported, t)),
    ...deletedThere(deleted, t),
    ...(different.length === 0
      ? []
      : [
          t(
            'Log files that differ there (for example, after data was deleted) are unchanged here: {0}.',
            different.join(', '),
          ),
        ]),
  ].join(' ');
}

/** What is not as it was in the other folder, a sentence each. */
export function importChanges(
  {
    renamed,
    lowered,
    leftOut,
    limitedTimes,
  }: Pick<Merged, 'renamed' | 'lowered' | 'leftOut' | 'limitedTimes'>,
  t: Translate,
): string[] {
  const kinds = Object.entries(leftOut).map(([kind, count]) => `${kind}: ${grouped(count)}`);
  return [
    ...renamed.map(({ from, to }) =>
      t(
        '{0} from that folder is called “{1}” here, because {0} may be someone else.',
        shownName(from),
        shownName(to),
      ),
    ),
    ...lowered.map(({ pseudonym, from, to }) =>
      t('The consent of {0} counts as “{1}” here, not “{2}”.', shownName(pseudonym), to, from),
    ),
    ...(kinds.length === 0
      ? []
      : [
          t(
            'Lines left out because they are about dialogues of this folder, about none, or not readable: {0}.',
            kinds.join(', '),
          ),
        ]),
    ...(limitedTimes === 0
      ? []
      : [t('Lines with a time in the future got the time of the import ({0}).', grouped(limitedTimes))]),
  ];
}

/** Who is called otherwise here than in the imported rows. */
export const rowChanges = ({ people }: Pick<ImportResult, 'people'>, t: Translate): string[] =>
  people.map(({ from, to }) =>
    t(
      '{0} from these rows is called “{1}” here; what {0} wrote stays on this machine.',
      shownName(from),
      shownName(to),
    ),
  );

function deletedThere(count: number, t: Translate): string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? t('1 was deleted in that folder and is hidden here too; “Restore Deleted Dialogues…” shows it again.')
      : t(
          '{0} were deleted in that folder and are hidden here too; “Restore Deleted Dialogues…” shows them again.',
          grouped(count),
        ),
  ];
}

function unreadWords(count: number, { line, reason }: ImportResult['bad'][number], t: Translate): string {
  return count === 1
    ? t('1 line cannot be read; line {0}: {1}', line, reason)
    : t('{0} lines cannot be read; line {1}: {2}', grouped(count), line, reason);
}
