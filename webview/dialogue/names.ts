import type { ChoiceView } from '../session/protocol';

/** A model's name without its server or folders, as far as a person needs it to tell two apart. */
export function modelLabel(model: string): string {
  const script = /^script:(?:.*[\\/])?([^\\/]+?)(?:\.json)?$/.exec(model)?.[1];
  // The folder of a trained model is called `model`, in the folder of its run.
  const folder = /^local:(?:.*?[\\/])?((?:[^\\/]+[\\/])?model|[^\\/]+)[\\/]*$/.exec(model)?.[1];
  return script ?? folder ?? model.replace(/^openai:/, '').replace(/@https?:\/\/.*$/, '');
}

const LETTERS = ['A', 'B'] as const;

/**
 * What was chosen and by whom; once the dialogue is over also who wrote what.
 * @param own the pseudonym of the person at this editor
 */
export function choiceWords(choice: ChoiceView, own: string | undefined): string {
  const who = choice.by === own ? 'You' : choice.by;
  const [a, b] = [candidateName(choice, 0), candidateName(choice, 1)];
  switch (choice.picked) {
    case 0:
      return `${who} chose ${a} over ${b}.`;
    case 1:
      return `${who} chose ${b} over ${a}.`;
    case 'equal':
      return `${who} found ${a} and ${b} equal; the dialogue went on with A.`;
    case 'neither':
      return `${who} wanted neither ${a} nor ${b}.`;
  }
}

/** The place in which it was shown, and who wrote it where that may be told. */
export function candidateName({ agents }: ChoiceView, place: 0 | 1): string {
  return agents === undefined ? LETTERS[place] : `${LETTERS[place]} (${modelLabel(agents[place])})`;
}
