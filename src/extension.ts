import * as vscode from 'vscode';
import { ApiKeys } from './editor/apiKeys';
import { registerCommands } from './editor/commands';
import { Configuration } from './editor/configuration';
import { views } from './editor/contributions';
import { Documents } from './editor/documents';
import { Engine } from './editor/engine';
import { Models } from './editor/models/choice';
import { SessionPanels } from './editor/session/panels';
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
  readonly panels: SessionPanels;
}

export function activate(context: vscode.ExtensionContext): Tandem {
  const output = vscode.window.createOutputChannel('Tandem', { log: true });
  const configuration = new Configuration();
  const keys = new ApiKeys(context.secrets);
  const engine = new Engine(context, configuration, keys, output);
  const packs = new Packs(configuration, (error) => engine.report(error));
  const tasks = new TaskTree(packs, engine);
  const trajectories = new TrajectoryTree(packs, engine);
  const panels = new SessionPanels(context, configuration, engine, packs, tasks);
  const models = new Models(configuration, keys);
  context.subscriptions.push(
    output,
    engine,
    packs,
    tasks,
    trajectories,
    panels,
    new Documents(engine, packs),
    new Status(panels),
    configuration.onDidChange(() => packs.refresh()),
    vscode.window.registerTreeDataProvider(views.tasks, tasks),
    vscode.window.registerTreeDataProvider(views.trajectories, trajectories),
    registerCommands({ extension: context.extensionUri, engine, models, packs, panels, tasks, trajectories }),
  );
  return { engine, packs, tasks, trajectories, panels };
}
