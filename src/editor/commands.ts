import * as vscode from 'vscode';
import type { HelpPage } from '../../webview/ui/protocol';
import { modelOf } from '../core/training/runFolder';
import type { Run } from '../core/training/runs';
import type { TrajectorySummary } from '../core/trajectory/trajectory';
import type { App, CommandRow, RowOrSelected } from './app';
import { collectPack } from './collecting/commands';
import * as runs from './commands/runs';
import { idOf, type CommandName } from './contributions';
import { openDocument, useUri, openHelp, openNamedHelp } from './documents';
import * as dialogues from './commands/dialogues';
import { chooseLog, openBeside } from './commands/dialogues';
import * as models from './commands/models';
import type { Server } from './servers';
import { compareBlindly, specOfRun } from './run/useModel';
import { assignPack } from './tasks/assigning';
import * as tasks from './commands/tasks';
import { askFilter } from './tasks/tree';
import type { Pack, ListedTask } from './packs';
import { deleteDialogues, restoreDialogues } from './commands/deleting';
import { saveFilter } from './trajectories/filterPicker';
import { importTrajectories } from './trajectories/importing';
import {
  editDialogues,
  noteOnDialogue,
  renameDialogue,
  tagDialogues,
  acceptDialogues,
  chooseReview,
  redoDialogues,
  takeReviewsBack,
} from './trajectories/opinions';
import { rowsMeant } from './tree';
import { summariesOf } from './trajectories/tree';
import { changeConsent, deleteData } from './commands/ownData';
import { refuseInRestrictedMode } from './workspaceTrust';
import { inform } from './inputSteps';

const { t } = vscode.l10n;

/** @param selected all selected rows of the tree, when a menu of the tree calls it */
type Handler = (app: App, row: CommandRow, selected?: readonly CommandRow[]) => unknown;

export interface Command {
  /**
   * Beginning of the sentence that refuses the command in an untrusted workspace. Absent where the command only reads,
   * writes into the log or the settings what a person says, or reaches code that refuses with its own reason.
   */
  readonly refused?: string;
  readonly run: Handler;
}

const notConnected = t('Models are not connected');
const notPlayed = t('Nothing is played');
const notTested = t('Tests are not run');
const notTrained = t('Nothing is trained');

/** Icons, menus and keys are in `manifest/places.ts`, English titles in `package.nls.json` as `command.` and name. */
export const commands = {
  // Tasks.
  playTask: { run: ofTask(({ panels }, task) => panels.openTask(task)) },
  playAsAgent: { run: tasks.playAsAgent },
  playNext: { run: tasks.playNext },
  playNextOfPack: { run: ofPack((app, pack) => tasks.playNextOf(app, [pack])) },
  collect: {
    refused: notPlayed,
    run: (app, row) => collectPack(app, row?.kind === 'pack' ? row.pack : undefined),
  },
  assignPack: { run: (app, row) => assignPack(app, row?.kind === 'pack' ? row.pack : undefined) },
  removePack: { run: ofPack(tasks.removePack) },
  toggleCounters: {
    run: ({ configuration }) => configuration.set('session.showCounters', !configuration.showsCounters),
  },
  findTask: { run: tasks.playFound },
  filterTasks: { run: ({ tasks }) => askFilter(tasks) },
  clearTaskFilter: { run: ({ tasks }) => (tasks.filter = undefined) },
  openPack: { run: ofPack((_, { file }) => openDocument(vscode.Uri.file(file))) },
  openReference: { run: ofTask((app, task) => tasks.openOf(app, 'reference', task)) },
  openTests: { run: ofTask((app, task) => tasks.openOf(app, 'tests', task)) },
  openGuidelines: { run: tasks.openGuidelines },
  copyTaskId: { run: ofTask((_, { id }) => vscode.env.clipboard.writeText(id)) },
  showDialogues: { run: ofTask(dialogues.openOneOf) },
  skipTask: { run: ofTask(tasks.skip) },
  addPack: { run: tasks.addPack },
  addPackFile: { run: ({ adder }) => adder.ask() },
  downloadPack: { refused: t('Nothing is downloaded'), run: ({ download }) => download.ask() },
  generateTasks: {
    run: async ({ configuration, packs }) =>
      (await import('./tasks/adding/generateTasks')).generateTasks(configuration, packs),
  },

  // The sessions and all views.
  showSession: { run: ({ status }) => status.showSession() },
  refresh: { run: refresh },
  showMore: { run: showMore },
  openHelp: { run: ({ extension }, page: unknown) => openNamedHelp(extension, page) },
  helpOnTasks: helpOn('tasks'),
  helpOnTrajectories: helpOn('trajectories'),
  helpOnModels: helpOn('models'),
  helpOnRuns: helpOn('training'),

  // The log.
  openTrajectory: {
    run: ofDialogue(({ replays, panels }, { id, state }) =>
      state === 'answered' ? replays.replay(id, true) : panels.openTrajectory(id),
    ),
  },
  openReplay: { run: ofDialogue(({ replays }, { id }) => replays.replay(id)) },
  nextFailure: { run: (app) => openBeside(app, 'failed', 'next') },
  previousFailure: { run: (app) => openBeside(app, 'failed', 'previous') },
  nextUnreviewed: { run: (app) => openBeside(app, 'unreviewed', 'next') },
  openSession: { run: ofDialogue(({ panels }, { id }) => panels.openTrajectory(id)) },
  forkTrajectory: { refused: notPlayed, run: dialogues.continueOtherwise },
  compareTrajectory: { run: ofDialogue(dialogues.compareWith) },
  compareTrajectories: {
    run: ofDialogues(
      ({ replays }, [first, second]) => first && second && replays.compare(first.id, second.id),
    ),
  },
  filterTrajectories: { run: dialogues.filter },
  saveTrajectoryFilter: { run: ({ trajectories }) => saveFilter(trajectories) },
  clearTrajectoryFilter: { run: ({ trajectories }) => (trajectories.filter = {}) },
  searchTranscripts: { run: dialogues.search },
  groupTrajectories: { run: dialogues.group },
  editTrajectories: { run: ofDialogues(editDialogues) },
  renameTrajectory: { run: ofDialogues(renameDialogue) },
  tagTrajectories: { run: ofDialogues(tagDialogues) },
  noteOnTrajectory: { run: ofDialogues(noteOnDialogue) },
  review: { run: async (app) => chooseReview(app, await dialoguesMeant(app, undefined)) },
  acceptTrajectories: { run: ofDialogues(acceptDialogues) },
  redoTrajectories: { run: ofDialogues(redoDialogues) },
  unreviewTrajectories: { run: ofDialogues(takeReviewsBack) },
  judgeTrajectory: { run: ofDialogue(dialogues.judge) },
  judgeNext: { run: dialogues.judgeNext },
  deleteTrajectories: { run: ofDialogues(deleteDialogues) },
  restoreTrajectories: { run: restoreDialogues },
  exportTrajectories: {
    run: ({ exports, trajectories }) => exports.preview((log) => trajectories.namedFilter(log)),
  },
  saveExport: { run: ofDocument(({ exports }, preview) => exports.save(preview)) },
  publish: {
    refused: t('Nothing is published'),
    run: ({ publish }, row) => publish(row?.kind === 'run' ? modelOf(row.run) : undefined),
  },
  importTrajectories: { run: ({ engines }) => importTrajectories(engines.shown) },
  showStatistics: { run: ({ statistics }) => statistics.open('one') },
  showAgreement: { run: ({ people }) => people.open('one') },
  showSimulator: {
    refused: t('Simulators do not run'),
    run: async ({ simulator, engines }, row) => {
      const panel = await simulator.open('one');
      if (row?.kind === 'run') await panel.compareWith(specOfRun(row.run, engines.shown.engine));
    },
  },
  chooseLog: { run: ({ engines }) => chooseLog(engines) },
  openTranscript: { run: dialogues.openTranscript },

  // Models.
  chooseAgent: { refused: notConnected, run: ({ choice }) => choice.choose('agent') },
  chooseSimulator: { refused: notConnected, run: ({ choice }) => choice.choose('simulator') },
  chooseCandidates: { refused: notConnected, run: ({ candidates }) => candidates.choose() },
  setApiKey: {
    refused: notConnected,
    run: ({ choice }, row) => choice.setKey(row?.kind === 'server' ? row.server.baseUrl : undefined),
  },
  connectModel: { refused: notConnected, run: models.connectAndUse },
  editConnection: { refused: notConnected, run: ofServer(models.edit) },
  testConnection: { refused: t('Servers are not asked'), run: ofServer(models.test) },
  showUse: { run: () => openDocument(useUri) },
  addModelFolder: { refused: notConnected, run: ({ folders }) => folders.addAndOffer() },
  useAsAgent: { refused: notConnected, run: (app, row) => models.use(app, 'agent', row) },
  useCritic: { run: ({ critics }, row) => (row?.kind === 'critic' ? critics.use(row.critic) : undefined) },
  useAsSecondAgent: { refused: notConnected, run: (app, row) => models.use(app, 'secondAgent', row) },
  useAsSimulator: { refused: notConnected, run: (app, row) => models.use(app, 'simulator', row) },
  revealModelFolder: { run: models.reveal },
  removeModel: { run: models.remove },

  // Consent.
  changeConsent: { run: changeConsent },
  deleteMyData: { run: deleteData },

  // A developer's own code.
  collaborateOnFunction: {
    refused: notPlayed,
    run: ({ collaborations }, what) => collaborations.start(what),
  },
  makeTask: {
    refused: t('Nothing is graded'),
    run: async ({ engines, packs }) => (await import('./own/makeTask')).makeTask(engines, packs),
  },
  acceptAnswer: { run: ofDocument(({ proposals }, document) => proposals.accept(document)) },
  acceptAnswerAnyway: { run: ofDocument(({ proposals }, document) => proposals.accept(document)) },
  rejectAnswer: { run: ofDocument(({ proposals }, document) => proposals.reject(document)) },
  testProposal: {
    refused: notTested,
    run: ofDocument(({ proposals }, document) => proposals.test(document)),
  },
  runTests: { refused: notTested, run: ({ ownTests }) => ownTests.runPointedAt() },
  reviewAnswer: { run: ({ collaborations }, answer) => collaborations.review(answer) },
  testAnswer: {
    refused: t('Answers are not graded'),
    run: async ({ engine }, answer) => (await import('./own/testFiles')).testAnswer(engine, answer),
  },

  // Training.
  teachAgent: { run: ({ teaching }) => teaching.open('one') },
  newRun: { refused: notTrained, run: ({ runForms }) => runForms.open() },
  fitSimulator: { refused: notTrained, run: ({ runForms }) => runForms.fitSimulator() },
  startRunFile: { refused: notTrained, run: runs.startFile },
  openRun: { run: runs.open },
  pauseRun: { refused: notTrained, run: ofRun(({ runControl }, run) => runControl.pause(run)) },
  finishRun: { refused: notTrained, run: ofRun(({ runControl }, run) => runControl.finish(run)) },
  killRun: { refused: notTrained, run: ofRun(({ runControl }, run) => runControl.kill(run)) },
  resumeRun: { refused: notTrained, run: ofRun(({ runControl }, run) => runControl.resume(run)) },
  startQueuedRun: { refused: notTrained, run: ofRun(({ runControl }, run) => runControl.startNow(run)) },
  unqueueRun: { run: ofRun(({ runControl }, run) => runControl.unqueue(run)) },
  advanceQueue: { refused: notTrained, run: ({ runQueue }) => runQueue.tryAgain() },
  continueRun: { refused: notTrained, run: ofRun(runs.continueRun) },
  openRunConfiguration: { run: ofRun((_, run) => runs.openConfiguration(run)) },
  openRunLog: { run: ofRun((_, run) => runs.openLog(run)) },
  revealRun: { run: ofRun((_, run) => runs.reveal(run)) },
  editRuns: { run: runs.editRuns },
  renameRun: { run: runs.renameRun },
  tagRuns: { run: runs.tagRuns },
  findRun: { run: runs.findRun },
  showRunTable: { run: ({ runTables }) => runTables.open('one') },
  showCurves: { run: ({ curvePanels }) => curvePanels.open('one') },
  duplicateRun: { run: ofRun(({ runForms }, run) => runForms.duplicate(run)) },
  compareBlindly: { refused: notPlayed, run: ofRun(({ engine }, run) => compareBlindly(run, engine)) },
  deleteRun: { run: runs.remove },
  compareRuns: { run: runs.compare },
  evaluateRuns: { refused: notPlayed, run: runs.evaluate },
  writeReport: { run: runs.report },
} satisfies Readonly<Record<CommandName, Command>>;

function helpOn(page: HelpPage): Command {
  return { run: ({ extension }) => openHelp(extension, page) };
}

function ofTask(act: (app: App, task: ListedTask) => unknown): Handler {
  return (app, row) => (row?.kind === 'task' ? act(app, row.task) : undefined);
}

function ofPack(act: (app: App, pack: Pack) => unknown): Handler {
  return (app, row) => (row?.kind === 'pack' ? act(app, row.pack) : undefined);
}

function ofServer(act: (app: App, server: Server) => unknown): Handler {
  return (app, row) => (row?.kind === 'server' ? act(app, row.server) : undefined);
}

function ofRun(act: (app: App, run: Run) => unknown): Handler {
  return (app, row) => (row?.kind === 'run' ? act(app, row.run) : undefined);
}

function ofDialogue(act: (app: App, dialogue: TrajectorySummary) => unknown): Handler {
  return (app, row) => (row?.kind === 'trajectory' ? act(app, row.summary) : undefined);
}

function ofDialogues(act: (app: App, dialogues: readonly TrajectorySummary[]) => unknown): Handler {
  return async (app, row, selected) => {
    const chosen = await dialoguesMeant(app, row, selected);
    if (chosen.length > 0) return act(app, chosen);
    inform(t('No dialogue is selected: select one in the view Dialogues, or open it there.'));
  };
}

/** A key of the list passes `selected`; the palette nothing: the dialogue replayed in front, else the selection. */
async function dialoguesMeant(
  app: App,
  row: RowOrSelected,
  selected?: readonly CommandRow[],
): Promise<readonly TrajectorySummary[]> {
  const front = row === undefined ? app.replays.front : undefined;
  if (front !== undefined) {
    const summary = (await (await app.engines.withEpisode(front)).log()).summary(front);
    return summary === undefined ? [] : [summary];
  }
  const rows = await rowsMeant<CommandRow>(app.trajectories, row, selected);
  return summariesOf(rows.filter((one) => one !== undefined));
}

/** Returns a handler for a button in a document's title; the document is undefined from elsewhere. */
function ofDocument(act: (app: App, document: vscode.Uri | undefined) => unknown): Handler {
  return (app, target: unknown) => act(app, target instanceof vscode.Uri ? target : undefined);
}

function showMore({ tasks, trajectories }: App, row: CommandRow): void {
  if (row?.kind === 'more' && 'pack' in row) tasks.showMore(row);
  else trajectories.showMore(row?.kind === 'more' && 'of' in row ? row.of : '');
}

async function refresh({ packs, engines, models, runWatch }: App): Promise<void> {
  packs.refresh();
  await runWatch.look();
  await models.refresh();
  for (const engine of engines.all) await (await engine.logIfAny())?.refresh();
}

export function registerCommands(app: App): vscode.Disposable {
  const registrations = Object.entries<Command>(commands).map(([name, { refused, run }]) => {
    const id = idOf(name as CommandName);
    return vscode.commands.registerCommand(id, async (row: CommandRow, selected?: readonly CommandRow[]) => {
      try {
        if (refused !== undefined) refuseInRestrictedMode(refused);
        // The editor does not know rows that it is about to redraw.
        if (Array.isArray(selected) && selected.includes(undefined)) {
          const sentence = t('The list has just changed. Run the command again.');
          inform(sentence);
          return;
        }
        // Nothing is returned, because the editor would serialize the whole of a panel.
        await run(app, row, selected);
      } catch (error) {
        app.engine.show(error, app.titles().get(id));
      }
    });
  });
  return vscode.Disposable.from(...registrations);
}
