import * as vscode from 'vscode';
import { grouped } from '../../core/text';
import type { CollectionProgress } from '../../core/dialogue/collect';
import { dialogues, roughly } from '../words';

const { t } = vscode.l10n;

/** Dialogues before the time left is estimated; the first ones are played at once. */
const MIN_ENDED = 16;

export interface EndedCollection extends CollectionProgress {
  readonly collection: string;
  readonly isCancelled: boolean;
  /** Why dialogues failed, or why the rest was not tried. */
  readonly failure?: string;
}

export const isComplete = ({ done, total }: CollectionProgress): boolean => done === total;

/** For example `40 of 120 dialogues, 11 solved, about 2 min left`. */
export function progressWords(
  { done, total, already, failed, solved }: CollectionProgress,
  seconds: number,
): string {
  const [now, wanted] = [done - already, total - already];
  const left = (seconds / now) * (wanted - now - failed);
  return [
    t('{0} of {1} dialogues', grouped(now), grouped(wanted)),
    t('{0} solved', grouped(solved)),
    ...(failed === 0 ? [] : [t('{0} failed', grouped(failed))]),
    ...(now < MIN_ENDED || left <= 0 ? [] : [t('about {0} left', roughly(left, t))]),
  ].join(', ');
}

/**
 * @param name of the pack or the agent
 * @param all counts of the whole collection, where earlier dialogues belong to it
 */
export function endingWords(
  ended: EndedCollection,
  name: string,
  all?: { readonly graded: number; readonly successes: number },
): string {
  const { total, done, already, graded, solved, failure, isCancelled } = ended;
  const [now, wanted] = [done - already, total - already];
  if (wanted === 0)
    return t('These dialogues were already played. Choose more tasks, or more dialogues per task.');
  const played = isComplete(ended)
    ? t('{0} played', dialogues(now, t))
    : t('{0} of {1} played', grouped(now), dialogues(wanted, t));
  const first =
    graded === 0
      ? t('{0}: {1}.', name, played)
      : t('{0}: {1}, {2} of {3} solved.', name, played, grouped(solved), grouped(graded));
  return [
    first,
    ...(all === undefined || all.graded <= graded
      ? []
      : [t('Including earlier ones: {0} of {1} solved.', grouped(all.successes), grouped(all.graded))]),
    ...(isCancelled ? [t('You canceled the rest.')] : []),
    ...(failure === undefined ? [] : [failure]),
  ].join(' ');
}

/** Returns the pressed button. */
export const showEnding = (
  { failure }: EndedCollection,
  words: string,
  ...buttons: readonly string[]
): Thenable<string | undefined> =>
  failure === undefined
    ? vscode.window.showInformationMessage(words, ...buttons)
    : vscode.window.showWarningMessage(words, ...buttons);
