import type { EventOf } from '../../core/trajectory/event';
import type { Choice } from '../../core/trajectory/trajectory';
import { messageOf } from '../session/view';
import { quoted } from './markdown';

const LETTERS = ['A', 'B'] as const;

/** Two candidates that wait for a choice, as Markdown; nobody is told who wrote them. */
export function candidateLines({ turn, candidates }: EventOf<'candidates'>): string[] {
  return candidates.flatMap((candidate, place) => [
    `### Candidate ${LETTERS[place]} for turn ${turn}`,
    messageOf(candidate.text).visible,
  ]);
}

/**
 * A choice that was made, with what the dialogue did not go on with.
 * @param isOver so that it may be told who wrote the candidates
 */
export function choiceLines({ shown, choice: { picked, by } }: Choice, isOver: boolean): string[] {
  const [a, b] = LETTERS.map((letter, place) =>
    isOver ? `${letter} (${shown.candidates[place]!.agent})` : letter,
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
