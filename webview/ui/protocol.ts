/** The pages of `docs` that are in the package, in the order in which *Open Help…* lists them. */
export const helpPages = [
  'tasks',
  'session',
  'trajectories',
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
