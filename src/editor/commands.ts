import * as vscode from 'vscode';
import { Fault } from '../core/fault';
import { commands, type CommandId } from './contributions';
import { documentUri } from './documents';
import type { Engines } from './engines';
import { modelCommands, type ModelCommandContext } from './models/commands';
import type { ModelNode } from './models/nodes';
import type { SessionPanels } from './session/panels';
import type { Status } from './status';
import type { PackAdder } from './tasks/adding/add';
import type { PackDownload } from './tasks/adding/download';
import type { StarterPacks } from './tasks/adding/starter';
import { taskCommands } from './tasks/commands';
import type { Guidelines } from './tasks/guidelines';
import type { Packs } from './tasks/packs';
import type { Played } from './tasks/played';
import type { TaskNode, TaskTree } from './tasks/tree';
import type { TrajectoryNode, TrajectoryTree } from './trajectories/tree';

/** What the commands act on. */
export interface CommandContext extends ModelCommandContext {
  readonly engines: Engines;
  readonly adder: PackAdder;
  readonly download: PackDownload;
  readonly starter: StarterPacks;
  readonly guidelines: Guidelines;
  readonly packs: Packs;
  readonly panels: SessionPanels;
  readonly played: Played;
  readonly status: Status;
  readonly tasks: TaskTree;
  readonly trajectories: TrajectoryTree;
}

/** What a menu or a tree passes: the item that the command was called on; nothing from the palette. */
export type Target = TaskNode | TrajectoryNode | ModelNode | undefined;

/** Every command and what it does. */
function table(on: CommandContext): Record<CommandId, (target: Target) => PromiseLike<unknown> | undefined> {
  return {
    ...taskCommands(on),
    [commands.showSession]: () => {
      on.status.showSession();
      return undefined;
    },
    [commands.refresh]: () => refresh(on),
    [commands.showMore]: (target) => {
      if (target?.kind === 'more' && 'pack' in target) on.tasks.showMore(target.pack);
      else on.trajectories.showMore();
      return undefined;
    },
    [commands.openTrajectory]: (target) =>
      target?.kind === 'trajectory' ? on.panels.openTrajectory(target.summary.id) : undefined,
    [commands.openTranscript]: (target) => openTranscript(on, target),
    ...modelCommands(on),
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

async function openTranscript({ engines }: CommandContext, target: Target): Promise<void> {
  if (target?.kind !== 'trajectory') return;
  const { id } = target.summary;
  const trajectory = await (await (await engines.withEpisode(id)).log()).trajectory(id);
  if (trajectory === undefined) {
    throw new Fault('editor/no-trajectory', `The log has no dialogue ${id}; it may have been deleted.`);
  }
  await open(documentUri('transcript', trajectory.task, { episode: id }));
}

async function refresh({ packs, engines, models }: CommandContext): Promise<void> {
  packs.refresh();
  await models.refresh();
  for (const engine of engines.all) await (await engine.logIfAny())?.refresh();
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
