import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../core/fault';
import { lazily } from '../core/lazily';
import { comparisonCommands, type ComparisonCommandContext } from './comparison/commands';
import { commands, type CommandId } from './contributions';
import { documentUri } from './documents';
import type { Engines } from './engines';
import type { Exports } from './export/exports';
import { modelCommands, type ModelCommandContext } from './models/commands';
import type { ModelNode } from './models/nodes';
import { ownCommands, type OwnCommandContext } from './own/commands';
import type { ReplayPanels } from './replay/panels';
import { runCommands, type RunCommandContext } from './runs/commands';
import type { RunNode } from './runs/tree';
import type { SessionPanels } from './session/panels';
import type { StatisticsPanel } from './statistics/panel';
import type { Status } from './status';
import type { PackAdder } from './tasks/adding/add';
import type { PackDownload } from './tasks/adding/download';
import type { SamplePacks } from './tasks/adding/sample';
import { taskCommands } from './tasks/commands';
import type { Guidelines } from './tasks/guidelines';
import type { Packs } from './tasks/packs';
import type { Played } from './tasks/played';
import type { TaskNode, TaskTree } from './tasks/tree';
import type { TeachingPanel } from './teaching/panel';
import { trajectoryCommands } from './trajectories/commands';
import type { TrajectoryNode, TrajectoryTree } from './trajectories/tree';
import { changeConsent } from './trust/changeConsent';
import { deleteData } from './trust/deleteData';
import { refusalOf } from './trust/refusals';
import { refuseInRestrictedMode } from './trust/restricted';

const { t } = vscode.l10n;

/** What the commands act on. */
export interface CommandContext
  extends ModelCommandContext, OwnCommandContext, RunCommandContext, ComparisonCommandContext {
  /** What the manifest calls each command. */
  readonly titles: () => ReadonlyMap<string, string>;
  readonly engines: Engines;
  readonly adder: PackAdder;
  readonly download: PackDownload;
  readonly samplePacks: SamplePacks;
  readonly guidelines: Guidelines;
  readonly packs: Packs;
  readonly panels: SessionPanels;
  readonly played: Played;
  readonly status: Status;
  readonly replays: ReplayPanels;
  readonly exports: Exports;
  readonly statistics: StatisticsPanel;
  readonly tasks: TaskTree;
  readonly teaching: TeachingPanel;
  readonly trajectories: TrajectoryTree;
}

/** What a menu or a tree passes: the item that the command was called on; nothing from the palette. */
export type Target = TaskNode | TrajectoryNode | ModelNode | RunNode | undefined;

/** `selected`: all rows that are selected in the tree, when a menu of the tree calls it. */
export type Command = (target: Target, selected?: readonly Target[]) => PromiseLike<unknown> | undefined;

/** Every command and what it does. */
function table(on: CommandContext): Record<CommandId, Command> {
  return {
    ...taskCommands(on),
    ...trajectoryCommands(on),
    [commands.showSession]: () => {
      on.status.showSession();
      return undefined;
    },
    [commands.toggleCounters]: () =>
      on.configuration.set('session.showCounters', !on.configuration.showsCounters),
    [commands.refresh]: () => refresh(on),
    [commands.showMore]: (target) => {
      if (target?.kind === 'more' && 'pack' in target) on.tasks.showMore(target.pack);
      else on.trajectories.showMore(target?.kind === 'more' && 'of' in target ? target.of : '');
      return undefined;
    },
    [commands.openTranscript]: (target) => openTranscript(on, target),
    ...modelCommands(on),
    ...ownCommands(on),
    ...runCommands(on),
    ...comparisonCommands(on),
    [commands.teachAgent]: () => on.teaching.open(),
    [commands.changeConsent]: () => changeConsent(on.engines, on.panels),
    [commands.deleteMyData]: () => deleteData(on),
  };
}

const manifestSchema = lazily(() =>
  z.object({
    contributes: z.object({ commands: z.array(z.object({ command: z.string(), title: z.string() })) }),
  }),
);

/** @param manifest as the editor has translated it */
export function titlesOf(manifest: unknown): ReadonlyMap<string, string> {
  const { contributes } = manifestSchema().parse(manifest);
  return new Map(contributes.commands.map(({ command, title }) => [command, title.replace(/…$/, '')]));
}

/** A command that fails says why in one sentence; the output channel has the rest. */
export function registerCommands(on: CommandContext): vscode.Disposable {
  const registrations = Object.entries(table(on)).map(([id, run]) =>
    vscode.commands.registerCommand(id, async (target: Target, selected?: readonly Target[]) => {
      try {
        const refused = refusalOf(id as CommandId, t);
        if (refused !== undefined) refuseInRestrictedMode(refused);
        return await run(target, selected);
      } catch (error) {
        on.engine.show(error, on.titles().get(id));
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registrations);
}

async function openTranscript({ engines, panels }: CommandContext, target: Target): Promise<void> {
  // From the palette or the title of a session there is no item: the session itself is meant.
  if (target?.kind !== 'trajectory') return panels.active?.openTranscript();
  const { id } = target.summary;
  const trajectory = await (await (await engines.withEpisode(id)).log()).trajectory(id);
  if (trajectory === undefined) {
    throw new Fault('editor/no-trajectory', t('The log has no dialogue {0}; it may have been deleted.', id));
  }
  await open(documentUri('transcript', trajectory.task, { episode: id }));
}

async function refresh({ packs, engines, models, runWatch }: CommandContext): Promise<void> {
  packs.refresh();
  await runWatch.look();
  await models.refresh();
  for (const engine of engines.all) await (await engine.logIfAny())?.refresh();
}

async function open(uri: vscode.Uri): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
}
