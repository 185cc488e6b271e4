import { grouped } from '../../core/text';
import type { ImportResult } from '../../core/trajectory/import';
import type { Merged } from '../../core/trajectory/log';
import type { Translate } from '../translate';
import { dialogues } from '../words';
import { shownName } from '../dialogue/words';

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
