import type titles from '../../package.nls.json';

// The manifest (`package.json`) and the code share these names, except those of the settings (`settings.ts`). What the
// manifest says of them is in `manifest`, where a mistyped name does not compile.

/** The commands: every `command.` of `package.nls.json`, which has the English title of each. */
export type CommandName = {
  [Key in keyof typeof titles]: Key extends `command.${infer Name}` ? Name : never;
}[keyof typeof titles];

export type CommandId = `tandem.${CommandName}`;

export const idOf = <Name extends CommandName>(name: Name): `tandem.${Name}` => `tandem.${name}`;

export const views = {
  tasks: 'tandem.tasks',
  trajectories: 'tandem.trajectories',
  models: 'tandem.models',
  runs: 'tandem.runs',
} as const;

export const panelTypes = {
  session: 'tandem.session',
  replay: 'tandem.replay',
  statistics: 'tandem.statistics',
  judging: 'tandem.judging',
  people: 'tandem.people',
  simulator: 'tandem.simulator',
  run: 'tandem.run',
  runs: 'tandem.runTable',
  curves: 'tandem.curves',
  newRun: 'tandem.newRun',
  teaching: 'tandem.teaching',
  comparison: 'tandem.comparison',
} as const;

export type PageName = keyof typeof panelTypes;

/** The name under which the editor knows the models that Tandem offers it. */
export const VENDOR = 'tandem';

export const PARTICIPANT = 'tandem.chat';

/** The command of a chat message that asks for the code at once. */
export const ANSWER = 'answer';

export const documentScheme = 'tandem';

/** The scheme of the previews of exports, which are read-only documents too, but nothing of the log. */
export const exportScheme = 'tandem-export';

/** The scheme of files as they would be with an answer in them, to accept or to reject. */
export const answerScheme = 'tandem-answer';

export const contextValues = {
  pack: 'tandem.pack',
  newTask: 'tandem.newTask',
  /** A task about which there is a dialogue, none of them finished by the person at this window. */
  draftTask: 'tandem.draftTask',
  playedTask: 'tandem.playedTask',
  trajectory: 'tandem.trajectory',
  trajectoryFilter: 'tandem.trajectoryFilter',
  starterModel: 'tandem.starterModel',
  trainedModel: 'tandem.trainedModel',
  modelFolder: 'tandem.modelFolder',
  server: 'tandem.server',
  editorModel: 'tandem.editorModel',
  critic: 'tandem.critic',
  shownCritic: 'tandem.shownCritic',
  liveRun: 'tandem.liveRun',
  /** A live run with a policy that could be kept as it is. */
  liveRunWithPolicy: 'tandem.liveRunWithPolicy',
  /** A run that was paused, failed or died, and can be resumed. */
  restingRun: 'tandem.restingRun',
  queuedRun: 'tandem.queuedRun',
  doneRun: 'tandem.doneRun',
  /** A done run that can be evaluated here, and was not yet. */
  unevaluatedRun: 'tandem.unevaluatedRun',
} as const;

export const contextKeys = {
  /** The packs have been looked for: if none is shown, there is none. */
  packsAreRead: 'tandem.packsAreRead',
  hasPacks: 'tandem.hasPacks',
  /** The shown log is on disk. The view of dialogues appears with it. */
  hasDialogues: 'tandem.hasDialogues',
  tasksAreFiltered: 'tandem.tasksAreFiltered',
  trajectoriesAreFiltered: 'tandem.trajectoriesAreFiltered',
  hasSeveralLogs: 'tandem.hasSeveralLogs',
  /** A log of the window has a run or a lesson. The view of runs appears with it. */
  hasRuns: 'tandem.hasRuns',
  runsAreRead: 'tandem.runsAreRead',
  /** Runs wait in the queue, and none begins before a person fixes a problem. */
  queueIsHalted: 'tandem.queueIsHalted',
  /** Addresses of the documents that were made to be started as runs. */
  runFiles: 'tandem.runFiles',
  /** Addresses of the shown answers that break tests which pass without them. */
  breakingAnswers: 'tandem.breakingAnswers',
} as const;
