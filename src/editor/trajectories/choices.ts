import type { EventOf } from '../../core/trajectory/event';
import type { Choice } from '../../core/trajectory/trajectory';
import { messageOf } from '../session/view';
import type { Namer } from '../models/called';
import type { Translate } from '../translate';
import { harmless, quoted } from './markdown';

const LETTERS = ['A', 'B'] as const;

/**
 * Two candidates of which nobody has chosen one, as Markdown.
 * @param namer tells who wrote them, as may be told once the dialogue is over; else undefined
 */
export function candidateLines(
  { turn, candidates }: EventOf<'candidates'>,
  namer: Namer | undefined,
  t: Translate,
): string[] {
  return candidates.flatMap((candidate, place) => [
    `### ${t('Candidate {0} for turn {1}', LETTERS[place]!, turn)}${namer === undefined ? '' : ` (${namer.calledBy(candidate.agent)})`}`,
    harmless(messageOf(candidate.text).visible),
  ]);
}

/**
 * A choice that was made, with what the dialogue did not go on with.
 * @param namer as of `candidateLines`
 */
export function choiceLines(
  { shown, choice: { picked, by } }: Choice,
  namer: Namer | undefined,
  t: Translate,
): string[] {
  const [a, b] = LETTERS.map((letter, place) =>
    namer === undefined ? letter : `${letter} (${namer.calledBy(shown.candidates[place]!.agent)})`,
  ) as [string, string];
  const words = {
    0: t('{0} chose {1} over {2}.', by, a, b),
    1: t('{0} chose {1} over {2}.', by, b, a),
    equal: t('{0} found {1} and {2} equal; the dialogue went on with A.', by, a, b),
    neither: t('{0} wanted neither {1} nor {2}.', by, a, b),
  }[picked];
  const passedOver = picked === 'neither' ? ([0, 1] as const) : [picked === 1 ? 0 : 1];
  return [
    words,
    ...passedOver.map(
      (place) => `${LETTERS[place]}: ${harmless(messageOf(shown.candidates[place]!.text).visible)}`,
    ),
  ].map(quoted);
}
