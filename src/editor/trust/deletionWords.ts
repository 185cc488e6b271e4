import type { DataErasure, DerivedWork } from '../../core/erasure/erase';
import type { Translate } from '../translate';
import { dialogues } from '../words';

/** The data that a data folder holds of a developer. */
interface DeveloperData {
  /** Name of its folder of the workspace. */
  readonly name: string;
  /** Number of dialogues in which the developer had the seat. */
  readonly dialogues: number;
  readonly made: DerivedWork;
}

/** Describes what a deletion removes: by folder, where there are several. */
export function whatGoes(found: readonly DeveloperData[], t: Translate): string {
  const runs = found.flatMap(({ made }) => made.runs);
  const experiments = found.flatMap(({ made }) => made.experiments);
  return [
    t(
      '{0} played under this pseudonym, all others with its replies, its ratings, its consent, and drafts of replies in this window. Open sessions are closed.',
      countOf(found, t),
    ),
    ...(runs.length === 0
      ? []
      : [t('Runs that were trained with them, and their models: {0}.', runs.join(', '))]),
    ...(experiments.length === 0
      ? []
      : [t('Not deleted from the logs of these loops and scoreboards: {0}.', experiments.join(', '))]),
    t('Exported files and copied models are not deleted. This cannot be undone.'),
  ].join('\n\n');
}

function countOf(found: readonly DeveloperData[], t: Translate): string {
  const [only] = found;
  if (found.length === 1) return dialogues(only!.dialogues, t);
  const total = found.reduce((sum, one) => sum + one.dialogues, 0);
  const each = found.map((one) => t('{0}: {1}', one.name, dialogues(one.dialogues, t)));
  return `${dialogues(total, t)} (${each.join(', ')})`;
}

/** Describes what was removed, and from which data folders. */
export function erasedWords(
  pseudonym: string,
  erased: readonly (DataErasure & { readonly place: string })[],
  t: Translate,
): string {
  const each = erased.map(({ place, episodes, runs, experiments }) =>
    t(
      '{0}: {1}',
      place,
      [
        dialogues(episodes, t),
        ...(runs.length === 0 ? [] : [runs.length === 1 ? t('1 run') : t('{0} runs', runs.length)]),
        ...experiments,
      ].join(', '),
    ),
  );
  return t('All data of {0} has been deleted from {1}.', pseudonym, each.join('; '));
}
