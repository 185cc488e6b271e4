import type { EventOf } from '../../core/trajectory/event';
import type { Choice } from '../../core/trajectory/trajectory';
import { messageOf } from '../session/view';
import { quoted } from './markdown';

const LETTERS = ['A', 'B'] as const;

/**
 * Two candidates of which nobody has chosen one, as Markdown.
 * @param tellsNames the dialogue is over, so that it may be told who wrote the candidates
 */
export function candidateLines({ turn, candidates }: EventOf<'candidates'>, tellsNames: boolean): string[] {
  return candidates.flatMap((candidate, place) => [
    `### Candidate ${LETTERS[place]} for turn ${turn}${tellsNames ? ` (${candidate.agent})` : ''}`,
    messageOf(candidate.text).visible,
  ]);
}

/**
 * A choice that was made, with what the dialogue did not go on with.
 * @param tellsNames the dialogue is over, so that it may be told who wrote the candidates
 */
export function choiceLines({ shown, choice: { picked, by } }: Choice, tellsNames: boolean): string[] {
  const [a, b] = LETTERS.map((letter, place) =>
    tellsNames ? `${letter} (${shown.candidates[place]!.agent})` : letter,
  ) as [string, string];
  const words = {
    0: `${by} chose ${a} over ${b}.`,
    1: `${by} chose ${b} over ${a}.`,
    equal: `${by} found ${a} and ${b} equal; the dialogue went on with A.`,
    neither: `${by} wanted neither ${a} nor ${b}.`,
  }[picked];
  const passedOver = picked === 'neither' ? ([0, 1] as const) : [picked === 1 ? 0 : 1];
  return [
    words,
    ...passedOver.map((place) => `${LETTERS[place]}: ${messageOf(shown.candidates[place]!.text).visible}`),
  ].map(quoted);
}
