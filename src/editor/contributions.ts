/**
 * Every name that the manifest (`package.json`) and the code share. A test compares the two, so that a mistyped
 * command, setting, view or context key fails there and not in front of a person.
 */

export const commands = {
  playTask: 'tandem.playTask',
  playNext: 'tandem.playNext',
  openPack: 'tandem.openPack',
  openReference: 'tandem.openReference',
  openTests: 'tandem.openTests',
  addStarterPack: 'tandem.addStarterPack',
  refresh: 'tandem.refresh',
  showMore: 'tandem.showMore',
  openTrajectory: 'tandem.openTrajectory',
  openTranscript: 'tandem.openTranscript',
  chooseAgent: 'tandem.chooseAgent',
  chooseSimulator: 'tandem.chooseSimulator',
  setApiKey: 'tandem.setApiKey',
  chooseCandidates: 'tandem.chooseCandidates',
  addModelFolder: 'tandem.addModelFolder',
  useAsAgent: 'tandem.useAsAgent',
  useAsSimulator: 'tandem.useAsSimulator',
  revealModelFolder: 'tandem.revealModelFolder',
  removeModelFolder: 'tandem.removeModelFolder',
  changePseudonym: 'tandem.changePseudonym',
  eraseDeveloper: 'tandem.eraseDeveloper',
} as const;

export type CommandId = (typeof commands)[keyof typeof commands];

export const views = {
  tasks: 'tandem.tasks',
  trajectories: 'tandem.trajectories',
  models: 'tandem.models',
  standing: 'tandem.standing',
} as const;

/** The type of a webview panel that holds one dialogue; its serializer brings it back after a reload. */
export const sessionViewType = 'tandem.session';

/** The scheme of the read-only documents: reference, tests, answer, transcript. */
export const documentScheme = 'tandem';

/** What the trees mark their items with, for the menus of the manifest. */
export const contextValues = {
  pack: 'tandem.pack',
  task: 'tandem.task',
  trajectory: 'tandem.trajectory',
  starterModel: 'tandem.starterModel',
  trainedModel: 'tandem.trainedModel',
  modelFolder: 'tandem.modelFolder',
} as const;

/** What the conditions of the manifest ask for. */
export const contextKeys = {
  /** The packs have been looked for: that none is shown means that none is there. */
  packsAreRead: 'tandem.packsAreRead',
} as const;

/** The settings and the type of their values; `tandem.` stands before each in the manifest. */
export interface Settings {
  agent: string;
  simulator: string;
  'candidates.show': boolean;
  'candidates.secondAgent': string;
  modelFolders: string[];
  packs: string[];
  dataFolder: string;
  'session.openReference': boolean;
  'session.showCounters': boolean;
  'protocol.maxTurns': number;
  'protocol.replyLimit': number;
  'protocol.promptFolder': string;
  'sampling.temperature': number;
  'sampling.topP': number;
  'sampling.maxTokens': number;
  'model.firstTokenSeconds': number;
  'model.totalSeconds': number;
  'grading.mode': 'fixed' | 'paper';
  'grading.workers': number;
  'grading.timeFactor': number;
  'grading.timeFloorMilliseconds': number;
  'grading.timeCeilingMilliseconds': number;
}

export const settings: readonly (keyof Settings)[] = [
  'agent',
  'simulator',
  'candidates.show',
  'candidates.secondAgent',
  'modelFolders',
  'packs',
  'dataFolder',
  'session.openReference',
  'session.showCounters',
  'protocol.maxTurns',
  'protocol.replyLimit',
  'protocol.promptFolder',
  'sampling.temperature',
  'sampling.topP',
  'sampling.maxTokens',
  'model.firstTokenSeconds',
  'model.totalSeconds',
  'grading.mode',
  'grading.workers',
  'grading.timeFactor',
  'grading.timeFloorMilliseconds',
  'grading.timeCeilingMilliseconds',
];
