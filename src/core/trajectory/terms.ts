import { choicesOf } from './choices';
import type { Candidate } from './event';
import type { Trajectory, TrajectorySummary } from './trajectory';

/** How the names of the models begin that the editor offers through its language model API. */
export const EDITOR_MODEL = 'vscode:';

/** The tag of what such a model wrote. */
export const EDITOR_TERMS = 'editor';

/** What a model of this name carries: the tag of its text when the editor offers it. */
export function termsOf(model: string): { readonly terms?: string } {
  return model.startsWith(EDITOR_MODEL) ? { terms: EDITOR_TERMS } : {};
}

/** Whether the summary already tells that a model of the editor plays in it; that none does, only the whole tells. */
export function playsByTerms({ agent, collaborator }: TrajectorySummary): boolean {
  return agent.startsWith(EDITOR_MODEL) || collaborator.name.startsWith(EDITOR_MODEL);
}

/** Whether some of its text is bound by the terms of a model: of candidates also the one that was not chosen. */
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

/** By name, whoever wrote some of it: agents, also of candidates, who replied, and who drafted a reply. */
export function writersOf(trajectory: Trajectory): string[] {
  const names = trajectory.turns.flatMap(({ agent, reply }) => [agent.model, reply?.by, reply?.suggestedBy]);
  return [
    ...candidatesOf(trajectory).map(({ agent }) => agent),
    ...names.filter((name) => name !== undefined),
  ];
}

const candidatesOf = (trajectory: Trajectory): readonly Candidate[] =>
  choicesOf(trajectory).flatMap(({ shown }) => shown.candidates);
