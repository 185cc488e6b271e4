import { answerScheme, exportScheme, type CommandName } from '../contributions';
import {
  all,
  editor,
  IN_FOLDER,
  isSet,
  languageIs,
  not,
  panelIs,
  resourceIsIn,
  schemeIs,
  type RowName,
  type ViewName,
  anywhere,
  inEditorTitle,
  inFocus,
  inText,
  inTitle,
  onRow,
  type KeyBinding,
  type Place,
} from './menus';

const PACKS = isSet('hasPacks');
const TASKS_FILTERED = isSet('tasksAreFiltered');
const DIALOGUES_FILTERED = isSet('trajectoriesAreFiltered');
const SEVERAL_LOGS = isSet('hasSeveralLogs');
const QUEUE_HALTED = isSet('queueIsHalted');
const SESSION = panelIs('session');
const PYTHON = languageIs('python');
/** A document that is a file, on this machine or on the one that the window is connected to. */
const FILE = schemeIs('file', 'vscode-remote');
const OF_ANSWER = schemeIs(answerScheme);
const OF_EXPORT = schemeIs(exportScheme);
const BREAKS_TESTS = resourceIsIn('breakingAnswers');
const ONE_ROW = not(editor('listMultiSelection'));

const TASK: readonly RowName[] = ['newTask', 'draftTask', 'playedTask'];
const MODEL: readonly RowName[] = ['starterModel', 'trainedModel', 'modelFolder', 'server', 'editorModel'];
const LIVE_RUN: readonly RowName[] = ['liveRun', 'liveRunWithPolicy'];
const DONE_RUN: readonly RowName[] = ['doneRun', 'unevaluatedRun'];
const STARTED_RUN: readonly RowName[] = [...LIVE_RUN, 'restingRun', ...DONE_RUN];
const RUN: readonly RowName[] = [...STARTED_RUN, 'queuedRun'];

/** The focus is on the rows of a view, and not on a field in which text is typed. */
const ON_ROWS = all(editor('listFocus'), not(editor('inputFocus')));

/** A key whose command acts on the selected rows of a view, also while a dialogue is replayed in front. */
const onSelected = (view: ViewName, keys: Pick<KeyBinding, 'key' | 'mac'>): KeyBinding => ({
  ...inFocus(view, keys, ON_ROWS),
  args: 'selected',
});

const deletesIn = (view: ViewName): KeyBinding => onSelected(view, { key: 'delete', mac: 'cmd+backspace' });

const renamesIn = (view: ViewName): KeyBinding => onSelected(view, { key: 'f2', mac: 'f2' });

/** Keys that lead from dialogue to dialogue where no text is edited: in a replay and in the list. */
const replayKeys = (key: string): readonly KeyBinding[] => [
  { key, mac: key, when: panelIs('replay') },
  inFocus('trajectories', { key, mac: key }, ON_ROWS),
];

const helpOn = (view: ViewName): Place => ({
  icon: 'question',
  menus: [inTitle(view, 'navigation@9')],
});

/**
 * Where a person finds each command; a missing one does not compile. `package.json` is written from here, in this
 * order, by `npx vitest run -u --project unit test/unit/editor/manifest.test.ts`.
 */
export const places: Readonly<Record<CommandName, Place>> = {
  // Tasks.
  playTask: { icon: 'play', menus: [onRow(TASK, '1_open@1')] },
  playAsAgent: { palette: PACKS, menus: [onRow(TASK, '1_open@2')] },
  playNext: {
    icon: 'play',
    palette: IN_FOLDER,
    menus: [inTitle('tasks', 'navigation@1', PACKS)],
    keys: [anywhere('p', IN_FOLDER)],
  },
  playNextOfPack: { menus: [onRow('pack', '1_open@0')] },
  collect: { palette: PACKS, menus: [inTitle('tasks', '0_generate@2', PACKS), onRow('pack', '2_collect@1')] },
  assignPack: { icon: 'organization', palette: PACKS, menus: [onRow('pack', '2_collect@2')] },
  removePack: { menus: [onRow('pack', '3_list@1')] },
  toggleCounters: { menus: [inEditorTitle('1_session@1', SESSION)] },
  findTask: { icon: 'search', palette: PACKS, menus: [inTitle('tasks', 'navigation@2', PACKS)] },
  filterTasks: {
    icon: 'filter',
    palette: PACKS,
    menus: [
      inTitle('tasks', 'navigation@3', PACKS, not(TASKS_FILTERED)),
      inTitle('tasks', '2_list@1', TASKS_FILTERED),
    ],
  },
  clearTaskFilter: { icon: 'filter-filled', menus: [inTitle('tasks', 'navigation@3', TASKS_FILTERED)] },
  openPack: { icon: 'go-to-file', menus: [onRow('pack', 'inline@2'), onRow('pack', '1_open@2')] },
  openReference: { menus: [onRow(TASK, '1_open@3')] },
  openTests: { menus: [onRow(TASK, '1_open@4')] },
  openGuidelines: {
    icon: 'book',
    palette: PACKS,
    menus: [onRow(TASK, '1_open@5'), onRow('pack', 'inline@1'), onRow('pack', '1_open@1')],
  },
  copyTaskId: { menus: [onRow(TASK, '3_copy@1')] },
  showDialogues: { menus: [onRow(['draftTask', 'playedTask'], '2_dialogues@1')] },
  skipTask: { menus: [onRow(['newTask', 'draftTask'], '2_dialogues@2')] },
  addPack: { icon: 'add', palette: IN_FOLDER, menus: [inTitle('tasks', 'navigation@4', IN_FOLDER)] },
  addPackFile: {},
  downloadPack: {},
  generateTasks: { menus: [inTitle('tasks', '0_generate@1', IN_FOLDER)] },

  // The sessions and all views.
  showSession: {},
  refresh: {
    icon: 'refresh',
    palette: 'always',
    menus: [inTitle(['tasks', 'trajectories', 'models', 'runs'], '2_list@2')],
  },
  showMore: {},
  openHelp: { palette: 'always' },
  helpOnTasks: helpOn('tasks'),
  helpOnTrajectories: helpOn('trajectories'),
  helpOnModels: helpOn('models'),
  helpOnRuns: helpOn('runs'),

  // The log.
  openTrajectory: {},
  openReplay: { icon: 'history', menus: [onRow('trajectory', '1_open@1', ONE_ROW)] },
  nextFailure: { palette: IN_FOLDER, keys: replayKeys('f8') },
  previousFailure: { keys: replayKeys('shift+f8') },
  nextUnreviewed: { keys: replayKeys('alt+n') },
  openSession: { menus: [onRow('trajectory', '1_open@2', ONE_ROW)] },
  forkTrajectory: {},
  compareTrajectory: { menus: [onRow('trajectory', '2_compare@1', ONE_ROW)] },
  compareTrajectories: { menus: [onRow('trajectory', '2_compare@1', editor('listDoubleSelection'))] },
  filterTrajectories: {
    icon: 'filter',
    palette: IN_FOLDER,
    menus: [
      inTitle('trajectories', 'navigation@1', IN_FOLDER, not(DIALOGUES_FILTERED)),
      inTitle('trajectories', '0_list@0', DIALOGUES_FILTERED),
    ],
  },
  saveTrajectoryFilter: {
    icon: 'save',
    menus: [
      inTitle('trajectories', '0_list@2', DIALOGUES_FILTERED),
      onRow('trajectoryFilter', 'inline@1'),
      onRow('trajectoryFilter', '1_filter@1'),
    ],
  },
  clearTrajectoryFilter: {
    icon: 'filter-filled',
    menus: [
      inTitle('trajectories', 'navigation@1', DIALOGUES_FILTERED),
      onRow('trajectoryFilter', 'inline@2'),
    ],
  },
  searchTranscripts: {
    icon: 'search',
    palette: IN_FOLDER,
    menus: [inTitle('trajectories', 'navigation@3', IN_FOLDER)],
    keys: [inFocus('trajectories', { key: 'ctrl+alt+f', mac: 'cmd+alt+f' }), anywhere('f', IN_FOLDER)],
  },
  groupTrajectories: {
    icon: 'list-tree',
    palette: IN_FOLDER,
    menus: [inTitle('trajectories', '0_list@1', IN_FOLDER)],
  },
  editTrajectories: { palette: IN_FOLDER, menus: [onRow('trajectory', '3_notes@1')] },
  renameTrajectory: { keys: [renamesIn('trajectories')] },
  tagTrajectories: {},
  noteOnTrajectory: {},
  review: { icon: 'law', palette: IN_FOLDER, menus: [inTitle('trajectories', '0_list@4', IN_FOLDER)] },
  acceptTrajectories: { menus: [onRow('trajectory', '2_review@1')] },
  redoTrajectories: { menus: [onRow('trajectory', '2_review@2')] },
  unreviewTrajectories: { menus: [onRow('trajectory', '2_review@3')] },
  judgeTrajectory: { menus: [onRow('trajectory', '2_review@4', ONE_ROW)] },
  judgeNext: {},
  deleteTrajectories: {
    icon: 'trash',
    menus: [onRow('trajectory', '4_delete@1')],
    keys: [deletesIn('trajectories')],
  },
  restoreTrajectories: { palette: IN_FOLDER, menus: [inTitle('trajectories', '2_deleted@1', IN_FOLDER)] },
  exportTrajectories: {
    icon: 'export',
    palette: IN_FOLDER,
    menus: [inTitle('trajectories', '1_files@1', IN_FOLDER)],
  },
  saveExport: { icon: 'save', menus: [inEditorTitle('navigation@1', OF_EXPORT)] },
  publish: { icon: 'cloud-upload', palette: IN_FOLDER, menus: [onRow(DONE_RUN, '2_control@3')] },
  importTrajectories: { palette: IN_FOLDER, menus: [inTitle('trajectories', '1_files@2', IN_FOLDER)] },
  showStatistics: {
    icon: 'graph',
    palette: IN_FOLDER,
    menus: [inTitle('trajectories', 'navigation@4', IN_FOLDER)],
  },
  showAgreement: {
    icon: 'organization',
    palette: IN_FOLDER,
    menus: [inTitle('trajectories', '0_list@3', IN_FOLDER)],
  },
  showSimulator: { menus: [inTitle('trajectories', '0_list@5', IN_FOLDER)] },
  chooseLog: {
    icon: 'root-folder',
    palette: SEVERAL_LOGS,
    menus: [inTitle('trajectories', 'navigation@0', SEVERAL_LOGS)],
  },
  openTranscript: {
    icon: 'markdown',
    menus: [inEditorTitle('navigation', SESSION), onRow('trajectory', '1_open@3', ONE_ROW)],
  },

  // Models.
  chooseAgent: {
    icon: 'hubot',
    palette: 'always',
    menus: [inTitle('models', '1_models@1'), inTitle('tasks', '1_models@1')],
  },
  chooseSimulator: {
    palette: 'always',
    menus: [inTitle('models', '1_models@2'), inTitle('tasks', '1_models@2')],
  },
  chooseCandidates: { icon: 'split-horizontal', palette: 'always', menus: [inTitle('models', '1_models@3')] },
  setApiKey: { palette: 'always', menus: [inTitle('models', '1_models@4'), onRow('server', '2_server@3')] },
  connectModel: { icon: 'plug', palette: 'always', menus: [inTitle('models', 'navigation@0')] },
  editConnection: { icon: 'edit', menus: [onRow('server', '2_server@2')] },
  testConnection: { icon: 'beaker', menus: [onRow('server', 'inline@0'), onRow('server', '2_server@1')] },
  showUse: { icon: 'graph', palette: IN_FOLDER, menus: [inTitle('models', '2_use@1', IN_FOLDER)] },
  addModelFolder: { icon: 'add', palette: 'always', menus: [inTitle('models', 'navigation@1')] },
  useAsAgent: { icon: 'hubot', menus: [onRow(MODEL, 'inline'), onRow(MODEL, '1_use@1')] },
  useCritic: { icon: 'law', menus: [onRow('critic', 'inline'), onRow('critic', '1_use@1')] },
  useAsSecondAgent: { menus: [onRow(MODEL, '1_use@2')] },
  useAsSimulator: { menus: [onRow(['trainedModel', 'modelFolder', 'server', 'editorModel'], '1_use@3')] },
  revealModelFolder: {
    menus: [onRow(['starterModel', 'trainedModel', 'modelFolder', 'critic', 'shownCritic'], '2_folder@1')],
  },
  removeModel: { menus: [onRow(['modelFolder', 'server'], '3_list@1')], keys: [deletesIn('models')] },

  // Consent.
  changeConsent: { palette: 'always' },
  deleteMyData: { palette: IN_FOLDER },

  // A developer's own code.
  collaborateOnFunction: {
    palette: all(PYTHON, IN_FOLDER),
    menus: [inText('1_modification@9', PYTHON, FILE, IN_FOLDER)],
  },
  makeTask: {
    palette: all(PYTHON, IN_FOLDER),
    menus: [inText('1_modification@10', PYTHON, FILE, IN_FOLDER)],
  },
  acceptAnswer: { icon: 'check', menus: [inEditorTitle('navigation@1', OF_ANSWER, not(BREAKS_TESTS))] },
  acceptAnswerAnyway: { icon: 'warning', menus: [inEditorTitle('navigation@1', OF_ANSWER, BREAKS_TESTS)] },
  rejectAnswer: { icon: 'close', menus: [inEditorTitle('navigation@2', OF_ANSWER)] },
  testProposal: { icon: 'beaker', menus: [inEditorTitle('navigation@0', OF_ANSWER)] },
  runTests: {
    palette: all(PYTHON, IN_FOLDER),
    menus: [inText('1_modification@11', PYTHON, FILE, IN_FOLDER)],
  },
  reviewAnswer: {},
  testAnswer: {},

  // Training.
  teachAgent: {
    icon: 'mortar-board',
    palette: IN_FOLDER,
    menus: [inTitle('runs', 'navigation@0', IN_FOLDER)],
  },
  newRun: {
    icon: 'add',
    palette: IN_FOLDER,
    menus: [inTitle('runs', 'navigation@1', IN_FOLDER)],
    keys: [anywhere('n', IN_FOLDER)],
  },
  fitSimulator: { palette: IN_FOLDER, menus: [inTitle('runs', '1_new@1', IN_FOLDER)] },
  startRunFile: {
    icon: 'play',
    palette: all(languageIs('json', 'jsonc'), IN_FOLDER),
    menus: [inEditorTitle('navigation@1', resourceIsIn('runFiles'))],
  },
  openRun: { menus: [onRow(RUN, '1_open@1')] },
  pauseRun: { icon: 'debug-pause', menus: [onRow(LIVE_RUN, 'inline@1'), onRow(LIVE_RUN, '2_control@1')] },
  finishRun: { icon: 'pass', menus: [onRow('liveRunWithPolicy', '2_control@2')] },
  killRun: { menus: [onRow(LIVE_RUN, '2_control@3')] },
  resumeRun: {
    icon: 'debug-continue',
    menus: [onRow('restingRun', 'inline@1'), onRow('restingRun', '2_control@1')],
  },
  startQueuedRun: { icon: 'play', menus: [onRow('queuedRun', '2_control@1')] },
  unqueueRun: { icon: 'close', menus: [onRow('queuedRun', 'inline@1'), onRow('queuedRun', '2_control@2')] },
  advanceQueue: {
    icon: 'debug-rerun',
    menus: [
      inTitle('runs', 'navigation@0', QUEUE_HALTED),
      onRow('queuedRun', 'inline@0', QUEUE_HALTED),
      onRow('queuedRun', '2_control@0', QUEUE_HALTED),
    ],
  },
  continueRun: { menus: [onRow(DONE_RUN, '2_control@1')] },
  openRunConfiguration: { menus: [onRow(RUN, '1_open@2')] },
  openRunLog: { icon: 'output', menus: [onRow(STARTED_RUN, 'inline@2'), onRow(STARTED_RUN, '1_open@3')] },
  revealRun: { menus: [onRow(RUN, '1_open@4')] },
  editRuns: { palette: IN_FOLDER, menus: [onRow(RUN, '3_notes@1')] },
  renameRun: { keys: [renamesIn('runs')] },
  tagRuns: {},
  findRun: { icon: 'search', palette: IN_FOLDER, menus: [inTitle('runs', 'navigation@2', IN_FOLDER)] },
  showRunTable: {
    icon: 'table',
    palette: IN_FOLDER,
    menus: [inTitle('runs', 'navigation@3', IN_FOLDER)],
    keys: [anywhere('t', IN_FOLDER)],
  },
  showCurves: {},
  duplicateRun: { menus: [onRow(RUN, '2_control@4')] },
  compareBlindly: { menus: [onRow(DONE_RUN, '2_control@2')] },
  deleteRun: {
    menus: [onRow(['restingRun', 'queuedRun', ...DONE_RUN], '4_delete@1')],
    keys: [deletesIn('runs')],
  },
  compareRuns: { palette: IN_FOLDER, menus: [onRow(STARTED_RUN, '1_open@5')] },
  evaluateRuns: {
    icon: 'beaker',
    palette: IN_FOLDER,
    menus: [onRow('unevaluatedRun', 'inline@1'), onRow(DONE_RUN, '1_open@6')],
  },
  writeReport: { palette: IN_FOLDER, menus: [onRow(STARTED_RUN, '1_open@7')] },
};
