/** The pages of `docs` that are in the package, in the order in which *Open Help…* lists them. */
export const helpPages = [
  'tasks',
  'session',
  'pages',
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

/** Id of the element in which the host puts the translations into the page; absent when the display language is English. */
export const sentencesId = 'tandem-sentences';

/** A step of long work. */
export interface StepView {
  readonly label: string;
  readonly detail: string;
  readonly state: 'waiting' | 'now' | 'done';
  /** Finished fraction of the step at work, 0 to 1; absent while unknown. */
  readonly fraction?: number;
  /** Progress in words: `412 of 1,600`; empty when there is nothing to count. */
  readonly count: string;
}

/** Order of a table's rows: by a column, with the lowest value first or the highest. */
export interface Sort {
  readonly column: string;
  readonly isDescending: boolean;
}

/** A file that a page makes; the extension host asks the person where to save it. */
export interface PageFile {
  /** Proposed name in words, without the ending: `first try, Loss of critic`. */
  readonly name: string;
  readonly kind: 'csv' | 'png';
  /** Text of a table, or a picture in base64. */
  readonly content: string;
}

export interface SaveMessage {
  readonly type: 'save';
  readonly file: PageFile;
}
