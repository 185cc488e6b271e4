import { t } from '../language';
import type { ModelNames, ChoiceView, Picked, Seat, TaskView } from '../session/protocol';
import { shortened } from './protocol';

export const givenName = (model: string, called: ModelNames): string | undefined =>
  Object.hasOwn(called, model) ? called[model] : undefined;

/** The name of the connection or run, or else the model without its server or folders. */
export function modelLabel(model: string, called: ModelNames): string {
  return givenName(model, called) ?? shortened(model);
}

export interface Names {
  /** Pseudonym of the person at this editor, once there is one. */
  readonly own?: string | undefined;
  readonly called: ModelNames;
}

/** Others played imported dialogues, so that only the own pseudonym's replies are from *You*. */
export function playerLabel(name: string, seat: Seat, { own, called }: Names): string {
  if (seat === 'developer') return name === own ? t('You') : name;
  return name === 'rules' ? t('Simulator (rules)') : modelLabel(name, called);
}

export const testsOf = ({ tests }: TaskView): string => (tests === 1 ? t('1 test') : t('{0} tests', tests));

export const LETTERS = ['A', 'B'] as const;

export function pickedWords(picked: Picked): string {
  if (typeof picked === 'number') return LETTERS[picked];
  return picked === 'equal' ? t('equal') : t('neither');
}

/** @param own pseudonym of the person at this editor */
export function choiceWords(choice: ChoiceView, own: string | undefined, called: ModelNames): string {
  const { by, picked } = choice;
  const isOwn = by === own;
  const [a, b] = [candidateName(choice, 0, called), candidateName(choice, 1, called)];
  if (picked === 'equal')
    return isOwn
      ? t('You found {0} and {1} equal; the dialogue continued with A.', a, b)
      : t('{0} found {1} and {2} equal; the dialogue continued with A.', by, a, b);
  if (picked === 'neither')
    return isOwn
      ? t('You wanted neither {0} nor {1}.', a, b)
      : t('{0} wanted neither {1} nor {2}.', by, a, b);
  const [chosen, other] = picked === 0 ? [a, b] : [b, a];
  return isOwn
    ? t('You chose {0} over {1}.', chosen, other)
    : t('{0} chose {1} over {2}.', by, chosen, other);
}

/** Adds the agent once it is no longer hidden. */
export function candidateName({ agents }: ChoiceView, place: 0 | 1, called: ModelNames): string {
  return agents === undefined ? LETTERS[place] : `${LETTERS[place]} (${modelLabel(agents[place], called)})`;
}
