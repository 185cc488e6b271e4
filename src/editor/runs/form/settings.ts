import { fields, type FieldPath } from '../../../core/training/fields';
import { runSchema } from '../../../core/training/schema';

/*
 * The form shows these fields of the schema, each in its place. Their titles and descriptions are the schema's, in
 * English; translators get them from there.
 */

const data = runSchema.properties.data.properties;
const filter = data.filter.properties;

/** Fields with a place of their own, outside *More settings*. */
const ELSEWHERE: readonly FieldPath[] = [
  ...(['method', 'model.base', 'model.device', 'critic.score'] as const),
  ...(['data.with_leaked', 'data.with_doubtful'] as const),
];

/** The fields of *More settings*, in their order. */
export const SETTINGS: readonly FieldPath[] = (Object.keys(fields) as FieldPath[]).filter(
  (path) => !ELSEWHERE.includes(path),
);

/** Lists that choose dialogues of the log; they have a title and no description. */
export const LISTS = {
  pack: filter.pack,
  agent: filter.agent,
  collaborator: filter.collaborator,
  collaborator_kind: filter.collaborator_kind,
  stars: filter.stars,
  review: filter.review,
  opening: data.opening,
} as const;

/** The packs that a run plays by itself. */
export const TASKS = data.tasks;

/** Check boxes that let in what is left out of the training data otherwise, by their name in the form. */
export const FLAGS = {
  'data.with_leaked': data.with_leaked,
  with_evaluations: data.with_evaluations,
  with_redo: data.with_redo,
  'data.with_doubtful': data.with_doubtful,
} as const;
