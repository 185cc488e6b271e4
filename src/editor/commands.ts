import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../core/fault';
import { commands, type CommandId } from './contributions';
import { documentUri } from './documents';
import type { Configuration } from './configuration';
import type { Engine } from './engine';
import type { CandidateChoice } from './models/candidates';
import type { ModelChoice } from './models/choice';
import type { ModelFolders } from './models/folders';
import { STARTER, type LocalPlace } from './models/places';
import type { ModelNode, ModelTree } from './models/tree';
import type { SessionPanels } from './session/panels';
import type { Packs } from './tasks/packs';
import type { TaskNode, TaskTree } from './tasks/tree';
import type { TrajectoryNode, TrajectoryTree } from './trajectories/tree';

/** What the commands act on. */
export interface CommandContext {
  readonly extension: vscode.Uri;
  readonly configuration: Configuration;
  readonly engine: Engine;
  readonly choice: ModelChoice;
  readonly candidates: CandidateChoice;
  readonly folders: ModelFolders;
  readonly models: ModelTree;
  readonly packs: Packs;
  readonly panels: SessionPanels;
  readonly tasks: TaskTree;
  readonly trajectories: TrajectoryTree;
}

/** What a menu or a tree passes: the item that the command was called on; nothing from the palette. */
type Target = TaskNode | TrajectoryNode | ModelNode | undefined;

/** Every command and what it does. */
function table(on: CommandContext): Record<CommandId, (target: Target) => Promise<unknown> | undefined> {
  return {
    [commands.playTask]: (target) => (target?.kind === 'task' ? on.panels.openTask(target.task) : undefined),
    [commands.playNext]: () => playNext(on),
    [commands.openPack]: (target) =>
      target?.kind === 'pack' ? open(vscode.Uri.file(target.pack.file)) : undefined,
    [commands.openReference]: (target) => openDocument(on, 'reference', target),
    [commands.openTests]: (target) => openDocument(on, 'tests', target),
    [commands.addStarterPack]: () => addStarterPack(on),
    [commands.refresh]: () => refresh(on),
    [commands.showMore]: (target) => {
      if (target?.kind === 'more' && 'pack' in target) on.tasks.showMore(target.pack);
      else on.trajectories.showMore();
      return undefined;
    },
    [commands.openTrajectory]: (target) =>
      target?.kind === 'trajectory' ? on.panels.openTrajectory(target.summary.id) : undefined,
    [commands.openTranscript]: (target) => openTranscript(on, target),
    [commands.chooseAgent]: () => on.choice.choose('agent'),
    [commands.chooseSimulator]: () => on.choice.choose('simulator'),
    [commands.chooseCandidates]: () => on.candidates.choose(),
    [commands.setApiKey]: () => on.choice.setKey(),
    [commands.addModelFolder]: () => on.folders.addAndOffer(),
    [commands.useAsAgent]: (target) => withModel(target, (place) => on.folders.use('agent', place)),
    [commands.useAsSimulator]: (target) => withModel(target, (place) => on.folders.use('simulator', place)),
    [commands.revealModelFolder]: (target) => withModel(target, (place) => on.folders.reveal(place)),
    // The Delete key names no row.
    [commands.removeModelFolder]: (target = on.models.selected) =>
      withModel(target, (place) => on.folders.remove(place)),
    [commands.changePseudonym]: () => changePseudonym(on),
    [commands.eraseDeveloper]: () => eraseDeveloper(on),
  };
}

/** A command that fails says why in one sentence; the output channel has the rest. */
export function registerCommands(on: CommandContext): vscode.Disposable {
  const registrations = Object.entries(table(on)).map(([id, run]) =>
    vscode.commands.registerCommand(id, async (target: Target) => {
      try {
        return await run(target);
      } catch (error) {
        on.engine.show(error);
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registrations);
}

function withModel<Result>(
  target: Target,
  act: (place: LocalPlace) => Promise<Result>,
): Promise<Result> | undefined {
  return target?.kind === 'model' ? act(target.place) : undefined;
}

async function playNext({ packs, tasks, panels }: CommandContext): Promise<void> {
  for (const { file } of await packs.all()) {
    const next = await tasks.nextTask(file);
    if (next === undefined) continue;
    await panels.openTask(next);
    return;
  }
  void vscode.window.showInformationMessage('There is no task here that has not been played yet.');
}

async function openDocument(
  { packs }: CommandContext,
  kind: 'reference' | 'tests',
  target: Target,
): Promise<void> {
  if (target?.kind !== 'task') return;
  const { pack, id } = target.task;
  const task = await packs.task(pack, id);
  if (task === undefined) {
    throw new Fault('editor/no-task', `The pack ${path.basename(pack)} no longer has the task ${id}.`);
  }
  await open(documentUri(kind, task, { pack, task: id }));
}

async function openTranscript({ engine, panels }: CommandContext, target: Target): Promise<void> {
  // From the palette or the title of a session there is no item: the session itself is meant.
  if (target?.kind !== 'trajectory') return panels.active?.openTranscript();
  const { id } = target.summary;
  const trajectory = await (await engine.log()).trajectory(id);
  if (trajectory === undefined) {
    throw new Fault('editor/no-trajectory', `The log has no dialogue ${id}; it may have been deleted.`);
  }
  await open(documentUri('transcript', trajectory.task, { episode: id }));
}

/** The packs that ship with Tandem: tasks of the starter world, and those that people wrote. */
const STARTER_PACKS = ['starter-world.jsonl', 'starter.jsonl'];

/**
 * Copies the packs that ship with Tandem into the workspace, where they can be read and changed. Who has no agent yet
 * gets the one that ships too, so that the first dialogue needs no configuration.
 */
async function addStarterPack({ extension, packs, configuration }: CommandContext): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined) {
    throw new Fault('editor/no-folder', 'Open a folder first: the starter packs are copied into it.');
  }
  for (const name of STARTER_PACKS) {
    try {
      await vscode.workspace.fs.copy(
        vscode.Uri.joinPath(extension, 'samples', 'workspace', name),
        vscode.Uri.joinPath(folder, name),
      );
    } catch (error) {
      throw new Fault('editor/no-starter', `${name} could not be copied here: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
  if (configuration.agent === '') await configuration.set('agent', STARTER);
  packs.refresh();
}

async function refresh({ packs, engine, models }: CommandContext): Promise<void> {
  packs.refresh();
  await models.refresh();
  await (await engine.logIfAny())?.refresh();
}

async function changePseudonym({ engine, panels }: CommandContext): Promise<void> {
  await engine.consent.forget();
  panels.refresh();
  void vscode.window.showInformationMessage(
    'Tandem asks for pseudonym and purpose again before your next reply.',
  );
}

/** Takes everything of one developer out of the log, for good. */
async function eraseDeveloper({ engine }: CommandContext): Promise<void> {
  const log = await engine.log();
  const pseudonym = await vscode.window.showInputBox({
    title: 'Erase a Developer’s Data',
    prompt: 'Pseudonym whose dialogues, ratings and consent are taken out of the log of this workspace',
    value: engine.consent.given?.pseudonym ?? '',
    ignoreFocusOut: true,
  });
  if (pseudonym === undefined || pseudonym === '') return;
  const { total } = log.list({ filter: { collaborator: pseudonym }, offset: 0, limit: 1 });
  const erase = 'Erase';
  const chosen = await vscode.window.showWarningMessage(
    `Erase everything of ${pseudonym}?`,
    {
      modal: true,
      detail: `${total} dialogues now in that seat, and all in which it replied. This cannot be undone.`,
    },
    erase,
  );
  if (chosen !== erase) return;
  const { episodes } = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Erasing the data of ${pseudonym}…` },
    () => log.eraseAnnotator(pseudonym),
  );
  void vscode.window.showInformationMessage(`${episodes} dialogues of ${pseudonym} are gone from the log.`);
}

async function open(uri: vscode.Uri): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
}
