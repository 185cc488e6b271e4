import type { Server } from './models/server';

/**
 * Every name that the manifest (`package.json`) and the code share. A test compares the two, so that a mistyped
 * command, setting, view or context key fails there and not in front of a person.
 */

export const commands = {
  playTask: 'tandem.playTask',
  playNext: 'tandem.playNext',
  playFirst: 'tandem.playFirst',
  playNextOfPack: 'tandem.playNextOfPack',
  collect: 'tandem.collect',
  removePack: 'tandem.removePack',
  toggleCounters: 'tandem.toggleCounters',
  openPack: 'tandem.openPack',
  openReference: 'tandem.openReference',
  openTests: 'tandem.openTests',
  openGuidelines: 'tandem.openGuidelines',
  copyTaskId: 'tandem.copyTaskId',
  showDialogues: 'tandem.showDialogues',
  skipTask: 'tandem.skipTask',
  findTask: 'tandem.findTask',
  filterTasks: 'tandem.filterTasks',
  clearTaskFilter: 'tandem.clearTaskFilter',
  addPack: 'tandem.addPack',
  addPackFile: 'tandem.addPackFile',
  downloadPack: 'tandem.downloadPack',
  addStarterPack: 'tandem.addStarterPack',
  generateTasks: 'tandem.generateTasks',
  showSession: 'tandem.showSession',
  refresh: 'tandem.refresh',
  showMore: 'tandem.showMore',
  openTrajectory: 'tandem.openTrajectory',
  openReplay: 'tandem.openReplay',
  openSession: 'tandem.openSession',
  compareTrajectory: 'tandem.compareTrajectory',
  compareTrajectories: 'tandem.compareTrajectories',
  filterTrajectories: 'tandem.filterTrajectories',
  clearTrajectoryFilter: 'tandem.clearTrajectoryFilter',
  searchTranscripts: 'tandem.searchTranscripts',
  groupTrajectories: 'tandem.groupTrajectories',
  deleteTrajectories: 'tandem.deleteTrajectories',
  restoreTrajectories: 'tandem.restoreTrajectories',
  exportTrajectories: 'tandem.exportTrajectories',
  saveExport: 'tandem.saveExport',
  importTrajectories: 'tandem.importTrajectories',
  showStatistics: 'tandem.showStatistics',
  chooseLog: 'tandem.chooseLog',
  openTranscript: 'tandem.openTranscript',
  chooseAgent: 'tandem.chooseAgent',
  chooseSimulator: 'tandem.chooseSimulator',
  setApiKey: 'tandem.setApiKey',
  connectModel: 'tandem.connectModel',
  editConnection: 'tandem.editConnection',
  testConnection: 'tandem.testConnection',
  showUse: 'tandem.showUse',
  chooseCandidates: 'tandem.chooseCandidates',
  addModelFolder: 'tandem.addModelFolder',
  useAsAgent: 'tandem.useAsAgent',
  useAsSecondAgent: 'tandem.useAsSecondAgent',
  useAsSimulator: 'tandem.useAsSimulator',
  useCritic: 'tandem.useCritic',
  revealModelFolder: 'tandem.revealModelFolder',
  removeModel: 'tandem.removeModel',
  teachAgent: 'tandem.teachAgent',
  newRun: 'tandem.newRun',
  startRunFile: 'tandem.startRunFile',
  openRun: 'tandem.openRun',
  pauseRun: 'tandem.pauseRun',
  finishRun: 'tandem.finishRun',
  killRun: 'tandem.killRun',
  resumeRun: 'tandem.resumeRun',
  startQueuedRun: 'tandem.startQueuedRun',
  unqueueRun: 'tandem.unqueueRun',
  advanceQueue: 'tandem.advanceQueue',
  continueRun: 'tandem.continueRun',
  openRunConfiguration: 'tandem.openRunConfiguration',
  openRunLog: 'tandem.openRunLog',
  revealRun: 'tandem.revealRun',
  duplicateRun: 'tandem.duplicateRun',
  compareBlindly: 'tandem.compareBlindly',
  deleteRun: 'tandem.deleteRun',
  compareRuns: 'tandem.compareRuns',
  evaluateRuns: 'tandem.evaluateRuns',
  writeReport: 'tandem.writeReport',
  changeConsent: 'tandem.changeConsent',
  deleteMyData: 'tandem.deleteMyData',
  collaborateOnFunction: 'tandem.collaborateOnFunction',
  makeTask: 'tandem.makeTask',
  acceptAnswer: 'tandem.acceptAnswer',
  acceptAnswerAnyway: 'tandem.acceptAnswerAnyway',
  rejectAnswer: 'tandem.rejectAnswer',
  testProposal: 'tandem.testProposal',
  runTests: 'tandem.runTests',
  reviewAnswer: 'tandem.reviewAnswer',
  testAnswer: 'tandem.testAnswer',
} as const;

export type CommandId = (typeof commands)[keyof typeof commands];

export const views = {
  tasks: 'tandem.tasks',
  trajectories: 'tandem.trajectories',
  models: 'tandem.models',
  standing: 'tandem.standing',
  runs: 'tandem.runs',
} as const;

/** The type of a webview panel that holds one dialogue; its serializer brings it back after a reload. */
export const sessionViewType = 'tandem.session';

/** The type of a webview panel that shows dialogues of the log to read, one or two. */
export const replayViewType = 'tandem.replay';

/** The type of the webview panel with the statistics of the log. */
export const statisticsViewType = 'tandem.statistics';

/** The type of a webview panel that shows a training run. */
export const runViewType = 'tandem.run';

/** The type of a webview panel with the form that makes a training run. */
export const newRunViewType = 'tandem.newRun';

/** The type of the webview panel with the lesson of the agent. */
export const teachingViewType = 'tandem.teaching';

/** The type of a webview panel that compares training runs. */
export const comparisonViewType = 'tandem.comparison';

/** The scheme of the read-only documents: reference, tests, answer, transcript. */
export const documentScheme = 'tandem';

/** The scheme of the previews of exports, which are read-only documents too, but nothing of the log. */
export const exportScheme = 'tandem-export';

/** The scheme of files as they would be with an answer in them, to accept or to reject. */
export const answerScheme = 'tandem-answer';

/** What the trees mark their items with, for the menus of the manifest. */
export const contextValues = {
  pack: 'tandem.pack',
  /** Nobody has begun a dialogue about it. */
  newTask: 'tandem.newTask',
  draftTask: 'tandem.draftTask',
  /** Answered or skipped. */
  playedTask: 'tandem.playedTask',
  trajectory: 'tandem.trajectory',
  trajectoryFilter: 'tandem.trajectoryFilter',
  starterModel: 'tandem.starterModel',
  trainedModel: 'tandem.trainedModel',
  modelFolder: 'tandem.modelFolder',
  server: 'tandem.server',
  editorModel: 'tandem.editorModel',
  critic: 'tandem.critic',
  /** The replays show what it says. */
  shownCritic: 'tandem.shownCritic',
  /** A trainer works on it. */
  liveRun: 'tandem.liveRun',
  /** The same, and its policy could be kept as it is. */
  liveRunWithPolicy: 'tandem.liveRunWithPolicy',
  /** Paused, failed or died: it can be resumed. */
  restingRun: 'tandem.restingRun',
  /** It waits for its turn. */
  queuedRun: 'tandem.queuedRun',
  doneRun: 'tandem.doneRun',
} as const;

/** What the conditions of the manifest ask for. */
export const contextKeys = {
  /** The packs have been looked for: that none is shown means that none is there. */
  packsAreRead: 'tandem.packsAreRead',
  hasPacks: 'tandem.hasPacks',
  /** The Tasks view does not show all tasks. */
  tasksAreFiltered: 'tandem.tasksAreFiltered',
  /** A session is open in this window. */
  hasSessions: 'tandem.hasSessions',
  /** The list of trajectories is narrowed by a filter. */
  trajectoriesAreFiltered: 'tandem.trajectoriesAreFiltered',
  /** The folders of the window write into more than one log. */
  hasSeveralLogs: 'tandem.hasSeveralLogs',
  /** The runs have been looked for: that none is shown means that none is there. */
  runsAreRead: 'tandem.runsAreRead',
  /** Runs wait for their turn, and none begins: it has come to something that a person has to mend. */
  queueIsHalted: 'tandem.queueIsHalted',
  /** The addresses of the documents that were made to be started as runs. */
  runFiles: 'tandem.runFiles',
  /** The addresses of shown answers that break tests which pass without them. */
  breakingAnswers: 'tandem.breakingAnswers',
} as const;

/** The settings and the type of their values; `tandem.` stands before each in the manifest. */
export interface Settings {
  agent: string;
  simulator: string;
  'candidates.show': boolean;
  'candidates.secondAgent': string;
  modelFolders: string[];
  servers: Server[];
  packs: string[];
  dataFolder: string;
  'session.openReference': boolean;
  'session.openGuidelines': boolean;
  'session.showCounters': boolean;
  'collaboration.survivalMinutes': number;
  'protocol.maxTurns': number;
  'protocol.replyLimit': number;
  'protocol.promptFolder': string;
  'sampling.temperature': number;
  'sampling.topP': number;
  'sampling.topK': number;
  'sampling.maxTokens': number;
  'model.firstTokenSeconds': number;
  'model.totalSeconds': number;
  'grading.mode': 'fixed' | 'paper';
  'grading.workers': number;
  'grading.timeFactor': number;
  'grading.timeFloorMilliseconds': number;
  'grading.timeCeilingMilliseconds': number;
  'training.python': string;
}

export const settings: readonly (keyof Settings)[] = [
  'agent',
  'simulator',
  'candidates.show',
  'candidates.secondAgent',
  'modelFolders',
  'servers',
  'packs',
  'dataFolder',
  'session.openReference',
  'session.openGuidelines',
  'session.showCounters',
  'collaboration.survivalMinutes',
  'protocol.maxTurns',
  'protocol.replyLimit',
  'protocol.promptFolder',
  'sampling.temperature',
  'sampling.topP',
  'sampling.topK',
  'sampling.maxTokens',
  'model.firstTokenSeconds',
  'model.totalSeconds',
  'grading.mode',
  'grading.workers',
  'grading.timeFactor',
  'grading.timeFloorMilliseconds',
  'grading.timeCeilingMilliseconds',
  'training.python',
];
