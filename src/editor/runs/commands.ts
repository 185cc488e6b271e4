import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { runFiles } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import type { Command } from '../commands';
import { commands, type CommandId } from '../contributions';
import type { Engines } from '../engines';
import type { CriticNode } from '../models/nodes';
import { revealFolder } from '../reveal';
import { compareBlindly } from './blind';
import type { RunControl } from './control';
import type { NewRunPanels } from './form/panels';
import type { RunPanels } from './panels';
import type { RunQueue } from './queue';
import { deleteRuns, runsOf } from './resting';
import type { RunStarter } from './starting';
import type { RunTree } from './tree';
import type { RunWatch } from './watch';
import { runName } from './words';

const { t } = vscode.l10n;

export interface RunCommandContext {
  readonly engines: Engines;
  readonly runWatch: RunWatch;
  readonly runTree: RunTree;
  readonly runQueue: RunQueue;
  readonly runStarter: RunStarter;
  readonly runControl: RunControl;
  readonly runPanels: RunPanels;
  readonly runForms: NewRunPanels;
}

/** Every command that is about runs. */
export function runCommands(on: RunCommandContext) {
  const { engines, runControl, runForms, runPanels, runQueue, runTree, runWatch } = on;
  const open = (run: Run | undefined): void => {
    if (run !== undefined) runPanels.open(run);
  };
  return {
    [commands.newRun]: () => runForms.open(),
    [commands.startRunFile]: async () => open(await startFile(on)),
    [commands.openRun]: async (target) => {
      if (target?.kind === 'run') open(target.run);
      if (target?.kind === 'critic') open(await runOfCritic(target));
    },
    [commands.pauseRun]: ofRun((run) => runControl.pause(run)),
    [commands.finishRun]: ofRun((run) => runControl.finish(run)),
    [commands.killRun]: ofRun((run) => runControl.kill(run)),
    [commands.resumeRun]: ofRun((run) => runControl.resume(run)),
    [commands.startQueuedRun]: ofRun((run) => runControl.startNow(run)),
    [commands.unqueueRun]: ofRun((run) => runControl.unqueue(run)),
    [commands.advanceQueue]: () => runQueue.tryAgain(),
    [commands.continueRun]: ofRun(async (run) => open(await runControl.continue(run))),
    [commands.openRunConfiguration]: ofRun((run) => openConfiguration(run)),
    [commands.openRunLog]: ofRun((run) => openLog(run)),
    [commands.revealRun]: ofRun(({ folder }) =>
      revealFolder(folder, runFiles.configuration, t('The run is in {0}.', folder)),
    ),
    [commands.duplicateRun]: ofRun((run) => runForms.duplicate(run)),
    [commands.compareBlindly]: ofRun((run) => compareBlindly(run, engines.first)),
    [commands.deleteRun]: async (target, selected) => {
      // The Delete key names no row.
      const rows = selected ?? (target === undefined ? runTree.selection : [target]);
      await runWatch.look();
      const folders = new Set(rows.flatMap((row) => (row?.kind === 'run' ? [row.run.folder] : [])));
      const runs = runWatch.everywhere.all.filter(({ folder }) => folders.has(folder));
      try {
        await deleteRuns(runs, engines.shown.engine, (run) => runPanels.close(run));
      } finally {
        await runWatch.look();
      }
    },
  } satisfies Partial<Record<CommandId, Command>>;
}

const ofRun =
  (act: (run: Run) => Promise<unknown>): Command =>
  (target) =>
    target?.kind === 'run' ? act(target.run) : undefined;

/** A critic stands in the folder of its run. */
async function runOfCritic({ critic }: CriticNode): Promise<Run> {
  const folder = path.dirname(critic.folder);
  const run = await runsOf({ folder }).read(path.basename(folder));
  if (run !== undefined) return run;
  const sentence = t(
    'The run that trained {0} is gone: {1} no longer exists. Refresh the Models view.',
    critic.name,
    folder,
  );
  throw new Fault('editor/no-run', sentence);
}

/** To be read: another configuration is another run. */
async function openConfiguration({ folder }: Run): Promise<void> {
  await openFile(path.join(folder, runFiles.configuration));
  await vscode.commands.executeCommand('workbench.action.files.setActiveEditorReadonlyInSession');
}

async function openLog(run: Run): Promise<void> {
  const file = path.join(run.folder, runFiles.log);
  try {
    await openFile(file);
  } catch (cause) {
    const sentence = t('{0} has no log yet: its trainer has not been started.', runName(run, t));
    throw new Fault('editor/no-trainer-log', sentence, { cause });
  }
}

async function openFile(file: string): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.file(file)));
}

async function startFile({ engines, runStarter }: RunCommandContext): Promise<Run | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined)
    throw new Fault('editor/no-run-file', t('Open the configuration of a run first, a JSON file.'));
  return runStarter.startFrom(document, engines.shown.engine);
}
