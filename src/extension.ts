import * as vscode from 'vscode';
import { lazily } from './core/lazily';
import { ApiKeys } from './editor/apiKeys';
import { registerCommands, titlesOf } from './editor/commands';
import { Comparisons } from './editor/comparison/panels';
import { Configuration } from './editor/configuration';
import { CriticChoice } from './editor/credit/choice';
import { Credits } from './editor/credit/credits';
import { KeptCredit } from './editor/credit/kept';
import { Documents } from './editor/documents';
import { CandidateChoice } from './editor/models/candidates';
import type { Engine } from './editor/engine';
import { Engines } from './editor/engines';
import { ModelChoice } from './editor/models/choice';
import { Critics } from './editor/models/critics';
import { Connect } from './editor/models/connect/connect';
import { ModelFolders } from './editor/models/folders';
import { ModelTree } from './editor/models/tree';
import { Exports } from './editor/export/exports';
import { ReplayPanels } from './editor/replay/panels';
import { RunControl } from './editor/runs/control';
import { RunEndings } from './editor/runs/endings';
import { NewRunPanels } from './editor/runs/form/panels';
import { RunPanels } from './editor/runs/panels';
import { RunQueue } from './editor/runs/queue';
import { RunStarter } from './editor/runs/starting';
import { EditorTrainer } from './editor/trainer';
import { RunTree } from './editor/runs/tree';
import { RunWatch } from './editor/runs/watch';
import { SessionPanels } from './editor/session/panels';
import { StatisticsPanel } from './editor/statistics/panel';
import { StandingTree } from './editor/standing/tree';
import { Participant } from './editor/chat/participant';
import { ModelProvider } from './editor/chat/provider';
import { Collaborations } from './editor/own/collaborations';
import { FunctionActions } from './editor/own/function';
import { OwnTests } from './editor/own/ownTests';
import { Proposals } from './editor/own/proposals';
import { Status } from './editor/status';
import { TeachingPanel } from './editor/teaching/panel';
import { Teacher } from './editor/teaching/teacher';
import { PackAdder } from './editor/tasks/adding/add';
import { PackDownload } from './editor/tasks/adding/download';
import { PackDrop } from './editor/tasks/adding/drop';
import { SamplePacks } from './editor/tasks/adding/sample';
import { Guidelines } from './editor/tasks/guidelines';
import { Packs } from './editor/tasks/packs';
import { Played } from './editor/tasks/played';
import { TaskTree } from './editor/tasks/tree';
import { TasksView } from './editor/tasks/view';
import { TrajectoryTree } from './editor/trajectories/tree';

/** What the extension is made of; other extensions may look at it, the tests of the extension host do. */
export interface Tandem {
  /** Of the first folder of the workspace. */
  readonly engine: Engine;
  readonly engines: Engines;
  readonly packs: Packs;
  readonly tasks: TaskTree;
  readonly trajectories: TrajectoryTree;
  readonly models: ModelTree;
  readonly standing: StandingTree;
  readonly panels: SessionPanels;
  readonly adder: PackAdder;
  readonly drop: PackDrop;
  readonly replays: ReplayPanels;
}

let running: Engines | undefined;

export function activate(context: vscode.ExtensionContext): Tandem {
  const output = vscode.window.createOutputChannel('Tandem', { log: true });
  const configuration = new Configuration();
  const keys = new ApiKeys(context.secrets);
  const engines = new Engines(context, configuration, keys, output);
  running = engines;
  const engine = engines.first;
  const packs = new Packs(engines, (error) => engine.report(error));
  const played = new Played(engines, packs);
  const tasks = new TaskTree(packs, played);
  const trajectories = new TrajectoryTree(packs, engines.shown, context.workspaceState);
  const guidelines = new Guidelines(engines, context.workspaceState);
  const panels = new SessionPanels(context, configuration, engines, packs, tasks, guidelines);
  const trainer = new EditorTrainer(context.asAbsolutePath('dist'), configuration, output);
  const keptCredit = new KeptCredit(engines);
  const critics = new CriticChoice(engines, keptCredit, context.workspaceState);
  const credits = new Credits(critics, keptCredit, trainer);
  const replays = new ReplayPanels(context.extensionUri, engines, credits);
  const exports = new Exports(engines.shown, (episode) => replays.replay(episode));
  const statistics = new StatisticsPanel(context.extensionUri, engines.shown, trajectories);
  const folders = new ModelFolders(configuration, engine);
  const standing = new StandingTree(engines.shown);
  const connect = new Connect(engine.servers, keys);
  const choice = new ModelChoice(configuration, engine, folders, connect);
  const candidates = new CandidateChoice(configuration, choice);
  const adder = new PackAdder(packs);
  const download = new PackDownload(adder, output);
  const samplePacks = new SamplePacks(context.extensionUri, configuration, packs);
  const drop = new PackDrop(adder, (error) => engine.show(error));
  const runWatch = new RunWatch(engines, (error) => engine.report(error));
  const criticRows = new Critics(critics, keptCredit, engines.shown, runWatch, (error) =>
    engine.report(error),
  );
  const models = new ModelTree(configuration, engine, engines.shown, criticRows);
  const runQueue = new RunQueue(runWatch, trainer, (error) => engine.show(error));
  const runTree = new RunTree(runWatch, runQueue, engines.shown);
  const runStarter = new RunStarter(runWatch, trainer, runQueue);
  const runControl = new RunControl(runWatch, trainer, runQueue);
  const runPanels = new RunPanels(context.extensionUri, engines, runWatch, runQueue);
  const runForms = new NewRunPanels(context.extensionUri, {
    ...{ engines, packs, trainer, starter: runStarter },
    filter: () => trajectories.filter,
    memory: context.workspaceState,
    open: (run) => runPanels.open(run),
  });
  const teacher = new Teacher(engine, trainer);
  const teaching = new TeachingPanel(context.extensionUri, engine, teacher, runPanels);
  const comparisons = new Comparisons(context.extensionUri, engines, packs, runPanels, runWatch);
  const status = new Status(panels, runWatch);
  const ownTests = new OwnTests(context.asAbsolutePath('dist/testing/run_tests.py'));
  const proposals = new Proposals(ownTests, (error) => engine.show(error));
  const collaborations = new Collaborations(context.workspaceState, engines, panels, proposals);
  const titles = lazily(() => titlesOf(context.extension.packageJSON));
  context.subscriptions.push(
    output,
    engines,
    packs,
    played,
    tasks,
    trajectories,
    models,
    standing,
    panels,
    keptCredit,
    critics,
    criticRows,
    replays,
    exports,
    statistics,
    runWatch,
    runTree,
    runQueue,
    runPanels,
    new RunEndings(
      runWatch,
      { isInSight: (run) => runPanels.isInSight(run) || teacher.follows(run.id) },
      context.workspaceState,
      (error) => engine.report(error),
    ),
    runForms,
    teacher,
    teaching,
    comparisons,
    new Documents(engines, packs),
    status,
    ownTests,
    proposals,
    collaborations,
    new FunctionActions(titles),
    new ModelProvider(engine),
    new Participant(engines, vscode.Uri.joinPath(context.extensionUri, 'media', 'icon.png')),
    configuration.onDidChange(() => packs.refresh()),
    new TasksView(tasks, drop, (error) => engine.report(error)),
    registerCommands({
      ...{ configuration, engine, engines, choice, connect, folders, models, packs, panels, played },
      ...{ adder, critics, download, samplePacks, guidelines, status, tasks, trajectories },
      ...{ replays, exports, statistics, candidates, proposals, ownTests, collaborations, titles },
      ...{ runWatch, runTree, runQueue, runStarter, runControl, runPanels, runForms, comparisons, teaching },
    }),
  );
  return { engine, engines, packs, tasks, trajectories, models, panels, replays, standing, adder, drop };
}

/** Resolves when the child processes are gone. */
export async function deactivate(): Promise<void> {
  await running?.close();
}
