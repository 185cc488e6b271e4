import * as z from 'zod';
import * as vscode from 'vscode';
import { lazily } from '../core/lazily';
import type { Run } from '../core/training/runs';
import { ApiKeys } from './servers';
import { comparisonPanels } from './comparison/comparisons';
import { FolderSettings } from './configuration';
import { CriticChoice, KeptCredit } from './credit/critics';
import { Credits } from './credit/credits';
import { Documents } from './documents';
import { SecondAgentChoice, ModelChoice, ComposedAgents } from './models/choice';
import { Engines } from './engines';
import { Critics } from './models/critics';
import { Connect } from './models/connect/connect';
import { ModelFolders } from './models/folders';
import type { ModelNode } from './models/items';
import { ModelTree } from './models/tree';
import type { MessageRow } from './forking';
import { Exports } from './export/exports';
import { JudgingPanels } from './judging/panel';
import { Replays } from './replay/panel';
import { RunControl } from './runs/runControl';
import { RunEndings } from './runs/runEndNotices';
import { RunForms } from './runs/form/runForms';
import { runPanels as runPanelsOf } from './runs/panel';
import { PinnedCharts } from './run/charts';
import { RunQueue, RunStarter } from './runs/queue';
import { EditorTrainer } from './trainer';
import { runTablePanels } from './runs/runTable';
import { curvePanels as curvePanelsOf } from './runs/curvePanel';
import { RunTree, type CurvesNode, type RunNode } from './runs/tree';
import { RunWatch } from './runs/runWatch';
import { statusWords } from './run/words';
import { Sessions } from './session/sessions';
import { peoplePanels, statisticsPanels } from './statistics/panel';
import { simulatorPanels } from './statistics/simulatorPanel';
import { Participant } from './chat/participant';
import { ModelProvider } from './chat/provider';
import { Collaborations } from './own/collaborations';
import { FunctionActions } from './own/functionAtCursor';
import { OwnTests } from './own/ownTests';
import { Proposals } from './own/proposals';
import { Status } from './status';
import { showLessonInStatusBar, teachingPanels, tellLessonEnds } from './teaching/panel';
import { Teacher } from './teaching/teacher';
import { PackAdder, SamplePacks, PackDrop } from './tasks/adding/addPack';
import { PackDownload } from './tasks/adding/download';
import { Guidelines } from './tasks/guidelines';
import { Packs } from './packs';
import { PlayedTasks } from './tasks/playedTasks';
import { TaskTree } from './tasks/tree';
import type { TaskNode } from './tasks/items';
import { TrajectoryTree } from './trajectories/tree';
import type { TrajectoryNode } from './trajectories/items';

/** Builds all parts of the extension, each after the parts that it needs; they are disposed of with the extension. */
export function buildApp(context: vscode.ExtensionContext) {
  const { extensionUri: extension, workspaceState: memory } = context;
  const own = <Part extends { dispose(): unknown }>(part: Part): Part => {
    context.subscriptions.push(part);
    return part;
  };
  const output = own(vscode.window.createOutputChannel('Tandem', { log: true }));
  const configuration = new FolderSettings();
  const keys = new ApiKeys(context.secrets);
  const engines = own(new Engines(context, configuration, keys, output));
  const engine = engines.first;
  const log = engines.shown;
  const show = (error: unknown): void => engine.show(error);
  const report = (error: unknown): void => engine.report(error);

  const packs = own(new Packs(engines, report));
  const played = own(new PlayedTasks(engines, packs));
  const runWatch = own(new RunWatch(engines, report));
  const adder = new PackAdder(packs);
  const drop = new PackDrop(adder, show);
  const tasks = own(new TaskTree(packs, played, runWatch, drop, report));
  const guidelines = new Guidelines(engines, memory);
  const download = new PackDownload(adder, output);
  const samplePacks = new SamplePacks(extension, configuration, packs);
  own(configuration.onDidChange(() => packs.refresh()));

  const trajectories = own(new TrajectoryTree(packs, log, memory));
  const panels = own(new Sessions(context, configuration, engines, packs, tasks, guidelines));
  const trainer = new EditorTrainer(context.asAbsolutePath('dist'), configuration, output);
  const keptCredit = own(new KeptCredit(engines, output));
  const critics = own(new CriticChoice(engines, keptCredit, memory));
  const credits = new Credits(critics, keptCredit, trainer);
  const replays = own(new Replays({ extension, engines, credits }));
  /** @param what exported rows or the folder of a model; absent: the person is asked */
  const publish = async (what?: string): Promise<void> => {
    // The hub's client is large, and hardly anything else uses it.
    const publishing = await import('./export/publish');
    await publishing.publish(what, { keys, output });
  };
  const exports = own(new Exports(log, (episode) => replays.replay(episode), publish));
  const statistics = own(statisticsPanels({ extension, log, trajectories }));
  const people = own(peoplePanels({ extension, log, trajectories, open: (id) => replays.replay(id) }));
  const simulator = own(simulatorPanels({ extension, log }));
  const judging = own(new JudgingPanels({ extension, engines, openReplay: (id) => replays.replay(id) }));
  own(
    new Documents(engines, packs, {
      transcript: async (trajectory, engine) =>
        (await import('./trajectories/transcript')).transcriptOf(trajectory, vscode.l10n.t, engine),
      modelUse: async (shown) => (await import('./models/words')).useOfLog(shown),
    }),
  );

  const runQueue = own(new RunQueue(runWatch, trainer, show));
  const runTree = own(new RunTree(runWatch, runQueue, log, report));
  const runStarter = new RunStarter(runWatch, trainer, runQueue);
  const runControl = new RunControl(runWatch, trainer, runQueue);
  const pinned = own(new PinnedCharts(memory));
  const runPanels = own(runPanelsOf({ extension, engines, watch: runWatch, queue: runQueue, pinned }));
  const runTables = own(runTablePanels({ extension, log, watch: runWatch, runPanels }));
  const curvePanels = own(curvePanelsOf({ extension, log, watch: runWatch }));
  const runForms = own(
    new RunForms(extension, {
      ...{ engines, packs, trainer, memory, starter: runStarter },
      filter: () => trajectories.filter,
      open: (run) => runPanels.open(run),
    }),
  );
  const comparisons = own(comparisonPanels({ extension, engines, packs, runPanels, runWatch, pinned }));
  const teacher = own(new Teacher(engine, trainer));
  const lesson = { extension, engine, teacher, runPanels };
  const teaching = own(teachingPanels(lesson));
  own(tellLessonEnds(lesson, teaching));
  own(showLessonInStatusBar(lesson));
  const isFollowed = (run: Run): boolean => runPanels.find(run)?.isInSight === true || teacher.follows(run);
  own(new RunEndings(runWatch, isFollowed, memory, report));
  const status = own(new Status(panels, runWatch, (run) => statusWords(run)));

  const folders = new ModelFolders(configuration, engine);
  const connect = new Connect(engine.servers, keys);
  const composed = new ComposedAgents(() => critics.offered(log.engine));
  const choice = new ModelChoice(configuration, engine, folders, connect, composed);
  const candidates = new SecondAgentChoice(configuration, choice);
  const criticRows = own(new Critics(critics, keptCredit, log, runWatch, report));
  const models = own(new ModelTree(configuration, engine, log, criticRows));
  own(new ModelProvider(engine));
  own(new Participant(engines, vscode.Uri.joinPath(extension, 'media', 'icon.png')));

  const titles = lazily(() => titlesOf(context.extension.packageJSON));
  const ownTests = own(new OwnTests(context.asAbsolutePath('dist/testing/run_tests.py')));
  const proposals = own(new Proposals(ownTests, show));
  const collaborations = own(new Collaborations(memory, engines, panels, proposals));
  own(new FunctionActions(titles));

  return {
    ...{ extension, configuration, engine, engines, titles, status },
    ...{ packs, played, adder, drop, tasks, guidelines, download, samplePacks },
    ...{ trajectories, panels, critics, replays, exports, publish, statistics, people, simulator, judging },
    ...{ runWatch, runQueue, runTree, runStarter, runControl, runPanels, runTables, curvePanels, runForms },
    ...{ comparisons, teaching },
    ...{ folders, connect, choice, candidates, models },
    ...{ ownTests, proposals, collaborations },
  };
}

export type App = ReturnType<typeof buildApp>;

/** The row on which a menu or a tree called a command; undefined from the palette. */
export type CommandRow =
  TaskNode | TrajectoryNode | ModelNode | RunNode | CurvesNode | MessageRow | undefined;

/** The row of a command that a key may call as well, which means the selected rows. */
export type RowOrSelected = CommandRow | 'selected';

const manifestSchema = lazily(() =>
  z.object({
    contributes: z.object({ commands: z.array(z.object({ command: z.string(), title: z.string() })) }),
  }),
);

/** @param manifest as the editor has translated it */
function titlesOf(manifest: unknown): ReadonlyMap<string, string> {
  const { contributes } = manifestSchema().parse(manifest);
  return new Map(contributes.commands.map(({ command, title }) => [command, title.replace(/…$/, '')]));
}
