import { fields, type FieldPath } from '../../../core/training/fields';
import { runSchema } from '../../../core/training/schema';

/**
 * Fields of the schema that the form shows. Titles and descriptions are the schema's, in English; translators get them
 * from there.
 */

const data = runSchema.properties.data.properties;
const filter = data.filter.properties;

/** Fields outside *More settings*. */
const ELSEWHERE: readonly FieldPath[] = [
  ...(['method', 'model.base', 'model.device', 'critic.score'] as const),
  ...(['data.with_leaked', 'data.with_doubtful'] as const),
];

export const SETTINGS: readonly FieldPath[] = (Object.keys(fields) as FieldPath[]).filter(
  (path) => !ELSEWHERE.includes(path),
);

/** Filters of the log; they have a title and no description. */
export const LISTS = {
  pack: filter.pack,
  agent: filter.agent,
  collaborator: filter.collaborator,
  collaborator_kind: filter.collaborator_kind,
  stars: filter.stars,
  review: filter.review,
  opening: data.opening,
} as const;

export const TASKS = data.tasks;

/** Check boxes that let excluded dialogues into the training data. */
export const FLAGS = {
  'data.with_leaked': data.with_leaked,
  with_evaluations: data.with_evaluations,
  with_redo: data.with_redo,
  'data.with_doubtful': data.with_doubtful,
} as const;
