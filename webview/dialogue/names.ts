import { t } from '../language';
import type { Called, ChoiceView, Seat, TaskView } from '../session/protocol';
import { shortened } from './protocol';

/** The name of a model's connection or run; undefined when it has none. */
export const givenName = (model: string, called: Called): string | undefined =>
  Object.hasOwn(called, model) ? called[model] : undefined;

/** By the name of its connection or run; else without its server or folders, as far as it takes to tell two apart. */
export function modelLabel(model: string, called: Called): string {
  return givenName(model, called) ?? shortened(model);
}

/** A model by its name, a person by the pseudonym. @param seat of whom this is */
export const playerLabel = (name: string, seat: Seat, called: Called): string =>
  seat === 'simulator' ? modelLabel(name, called) : name;

/** How many tests the task has. */
export const testsOf = ({ tests }: TaskView): string => (tests === 1 ? t('1 test') : t('{0} tests', tests));

/** What the candidates are called, in the order in which they are shown. */
export const LETTERS = ['A', 'B'] as const;

/**
 * What was chosen and by whom; once the dialogue is over also who wrote what.
 * @param own the pseudonym of the person at this editor
 */
export function choiceWords(choice: ChoiceView, own: string | undefined, called: Called): string {
  const { by, picked } = choice;
  const isOwn = by === own;
  const [a, b] = [candidateName(choice, 0, called), candidateName(choice, 1, called)];
  switch (picked) {
    case 0:
      return isOwn ? t('You chose {0} over {1}.', a, b) : t('{0} chose {1} over {2}.', by, a, b);
    case 1:
      return isOwn ? t('You chose {0} over {1}.', b, a) : t('{0} chose {1} over {2}.', by, b, a);
    case 'equal':
      return isOwn
        ? t('You found {0} and {1} equal; the dialogue went on with A.', a, b)
        : t('{0} found {1} and {2} equal; the dialogue went on with A.', by, a, b);
    case 'neither':
      return isOwn
        ? t('You wanted neither {0} nor {1}.', a, b)
        : t('{0} wanted neither {1} nor {2}.', by, a, b);
  }
}

/** The place in which it was shown, and who wrote it where that may be told. */
export function candidateName({ agents }: ChoiceView, place: 0 | 1, called: Called): string {
  return agents === undefined ? LETTERS[place] : `${LETTERS[place]} (${modelLabel(agents[place], called)})`;
}
