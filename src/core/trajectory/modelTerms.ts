import { choicesOf, type Trajectory, type TrajectorySummary } from './trajectory';
import type { Candidate } from './event';

/** Prefix of the names of models that the editor offers through its language model API. */
export const EDITOR_MODEL = 'vscode:';

export const EDITOR_TERMS = 'editor';

/** Also a simulator whose model the editor offers: `specification:vscode:…`. */
const BY_EDITOR_MODEL = /^(?:specification:)?vscode:/;

/** Only models of the editor have a tag. */
export function termsOf(model: string): { readonly terms?: string } {
  return BY_EDITOR_MODEL.test(model) ? { terms: EDITOR_TERMS } : {};
}

/** If the summary names no model of the editor, only the whole trajectory can rule one out. */
export function playsByTerms({ agent, collaborator }: TrajectorySummary): boolean {
  return [agent, collaborator.name].some((name) => BY_EDITOR_MODEL.test(name));
}

/** True if any text is bound by a model's terms, also a candidate that was not chosen. */
export function isBoundByTerms(trajectory: Trajectory): boolean {
  const texts = [
    ...candidatesOf(trajectory),
    ...trajectory.turns.flatMap(({ agent, reply }) => (reply === undefined ? [agent] : [agent, reply])),
  ];
  return (
    texts.some(({ terms }) => terms !== undefined) ||
    writersOf(trajectory).some((model) => BY_EDITOR_MODEL.test(model))
  );
}

/** Names of agents (of candidates too), collaborators, and the authors of suggestions. */
export function writersOf(trajectory: Trajectory): string[] {
  const names = trajectory.turns.flatMap(({ agent, reply }) => [agent.model, reply?.by, reply?.suggestedBy]);
  return [
    ...candidatesOf(trajectory).map(({ agent }) => agent),
    ...names.filter((name) => name !== undefined),
  ];
}

const candidatesOf = (trajectory: Trajectory): readonly Candidate[] =>
  choicesOf(trajectory).flatMap(({ shown }) => shown.candidates);
