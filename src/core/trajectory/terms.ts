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

/** Whether some of its text is bound by the terms of a model. */
export function isBoundByTerms({ turns }: Trajectory): boolean {
  const texts = turns.flatMap(({ agent, reply }) => [
    { model: agent.model, terms: agent.terms },
    { model: reply?.by ?? '', terms: reply?.terms },
  ]);
  return texts.some(({ model, terms }) => terms !== undefined || model.startsWith(EDITOR_MODEL));
}
