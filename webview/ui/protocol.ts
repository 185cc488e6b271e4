/** The pages of `docs` that are in the package, in the order in which *Open Help…* lists them. */
export const helpPages = [
  'tasks',
  'session',
  'trajectories',
  'several-people',
  'models',
  'training',
  'loop',
  'collaborate',
  'choosing-a-model',
  'local-models',
  'starter-model',
  'starter-world',
  'exports',
  'grading',
  'data',
  'agents',
  'environment',
  'faults',
] as const;

export type HelpPage = (typeof helpPages)[number];

/** The only command that a link of a page may run (`src/editor/panel.ts`). */
export const helpCommand = 'tandem.openHelp';

/** Order of a table's rows: by a column, with the lowest value first or the highest. */
export interface Sort {
  readonly column: string;
  readonly isDescending: boolean;
}
