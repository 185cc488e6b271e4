import { choicesOf, type Trajectory, type TrajectorySummary } from './trajectory';
import type { Candidate } from './event';

/** Prefix of the names of models that the editor offers through its language model API. */
export const EDITOR_MODEL = 'vscode:';

/** Tag of text that such a model wrote. */
const EDITOR_TERMS = 'editor';

/** Returns the tag for text of this model; none unless the editor offers it. */
export function termsOf(model: string): { readonly terms?: string } {
  return model.startsWith(EDITOR_MODEL) ? { terms: EDITOR_TERMS } : {};
}

/**
 * Tells whether the summary names a model of the editor; if it names none, only the whole trajectory can rule one out.
 */
export function playsByTerms({ agent, collaborator }: TrajectorySummary): boolean {
  return agent.startsWith(EDITOR_MODEL) || collaborator.name.startsWith(EDITOR_MODEL);
}

/** Tells whether any text is bound by a model's terms, candidates that were not chosen included. */
export function isBoundByTerms(trajectory: Trajectory): boolean {
  const texts = [
    ...candidatesOf(trajectory),
    ...trajectory.turns.flatMap(({ agent, reply }) => (reply === undefined ? [agent] : [agent, reply])),
  ];
  return (
    texts.some(({ terms }) => terms !== undefined) ||
    writersOf(trajectory).some((model) => model.startsWith(EDITOR_MODEL))
  );
}

/**
 * Returns the names of all who wrote text: agents (of candidates too), collaborators, and the authors of suggestions.
 */
export function writersOf(trajectory: Trajectory): string[] {
  const names = trajectory.turns.flatMap(({ agent, reply }) => [agent.model, reply?.by, reply?.suggestedBy]);
  return [
    ...candidatesOf(trajectory).map(({ agent }) => agent),
    ...names.filter((name) => name !== undefined),
  ];
}

const candidatesOf = (trajectory: Trajectory): readonly Candidate[] =>
  choicesOf(trajectory).flatMap(({ shown }) => shown.candidates);
