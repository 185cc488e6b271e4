import * as vscode from 'vscode';
import { ApiKeys } from './editor/apiKeys';
import { registerCommands } from './editor/commands';
import { Configuration } from './editor/configuration';
import { views } from './editor/contributions';
import { Documents } from './editor/documents';
import { Engine } from './editor/engine';
import { CandidateChoice } from './editor/models/candidates';
import { ModelChoice } from './editor/models/choice';
import { ModelFolders } from './editor/models/folders';
import { ModelTree } from './editor/models/tree';
import { SessionPanels } from './editor/session/panels';
import { StandingTree } from './editor/standing/tree';
import { Status } from './editor/status';
import { Packs } from './editor/tasks/packs';
import { TaskTree } from './editor/tasks/tree';
import { TrajectoryTree } from './editor/trajectories/tree';

/** What the extension is made of; other extensions may look at it, the tests of the extension host do. */
export interface Tandem {
  readonly engine: Engine;
  readonly packs: Packs;
  readonly tasks: TaskTree;
  readonly trajectories: TrajectoryTree;
  readonly models: ModelTree;
  readonly standing: StandingTree;
  readonly panels: SessionPanels;
}

let running: Engine | undefined;

export function activate(context: vscode.ExtensionContext): Tandem {
  const output = vscode.window.createOutputChannel('Tandem', { log: true });
  const configuration = new Configuration();
  const keys = new ApiKeys(context.secrets);
  const engine = new Engine(context, configuration, keys, output);
  running = engine;
  const packs = new Packs(configuration, (error) => engine.report(error));
  const tasks = new TaskTree(packs, engine);
  const trajectories = new TrajectoryTree(packs, engine);
  const panels = new SessionPanels(context, configuration, engine, packs, tasks);
  const models = new ModelTree(configuration, engine);
  const folders = new ModelFolders(configuration, engine);
  const candidates = new CandidateChoice(configuration, folders);
  const standing = new StandingTree(engine);
  const choice = new ModelChoice(configuration, keys, folders);
  context.subscriptions.push(
    output,
    engine,
    packs,
    tasks,
    trajectories,
    models,
    standing,
    panels,
    new Documents(engine, packs),
    new Status(panels),
    configuration.onDidChange(() => packs.refresh()),
    vscode.window.registerTreeDataProvider(views.tasks, tasks),
    vscode.window.registerTreeDataProvider(views.trajectories, trajectories),
    vscode.window.registerTreeDataProvider(views.standing, standing),
    registerCommands({
      extension: context.extensionUri,
      ...{ configuration, engine, choice, candidates, folders, models, packs, panels, tasks, trajectories },
    }),
  );
  return { engine, packs, tasks, trajectories, models, standing, panels };
}

/** Resolves when the child processes are gone. */
export async function deactivate(): Promise<void> {
  await running?.close();
}
