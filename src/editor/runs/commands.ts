import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { runFiles } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import type { App, CommandRow, RowOrSelected } from '../app';
import { openDocument } from '../documents';
import type { CriticNode } from '../models/nodes';
import { revealFolder } from '../revealFolder';
import { rowsMeant } from '../tree';
import { deleteRuns, runsOf } from './finishedRunActions';
import { runName } from './words';

const { t } = vscode.l10n;

/** @throws {Fault} `editor/no-run` */
export async function open({ runPanels }: App, row: CommandRow): Promise<void> {
  const run = row?.kind === 'critic' ? await runOfCritic(row) : row?.kind === 'run' ? row.run : undefined;
  if (run !== undefined) await runPanels.open(run);
}

export async function continueRun({ runControl, runPanels }: App, run: Run): Promise<void> {
  const next = await runControl.continue(run);
  if (next !== undefined) await runPanels.open(next);
}

export async function runsMeant(
  { runTree }: App,
  row: RowOrSelected,
  selected?: readonly CommandRow[],
): Promise<Run[]> {
  const rows = await rowsMeant<CommandRow>(runTree, row, selected);
  return rows.flatMap((one) => (one?.kind === 'run' ? [one.run] : []));
}

export async function remove(app: App, row: RowOrSelected, selected?: readonly CommandRow[]): Promise<void> {
  const { engines, runPanels, runWatch } = app;
  const meant = await runsMeant(app, row, selected);
  await runWatch.look();
  const folders = new Set(meant.map(({ folder }) => folder));
  const runs = runWatch.everywhere.all.filter(({ folder }) => folders.has(folder));
  try {
    await deleteRuns(runs, engines.shown.engine, (run) => runPanels.find(run)?.dispose());
  } finally {
    await runWatch.look();
  }
}

export const reveal = ({ folder }: Run): Promise<void> =>
  revealFolder(folder, runFiles.configuration, t('The run is in {0}.', folder));

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

/** Read-only, because another configuration would be another run. */
export async function openConfiguration({ folder }: Run): Promise<void> {
  await openDocument(vscode.Uri.file(path.join(folder, runFiles.configuration)));
  await vscode.commands.executeCommand('workbench.action.files.setActiveEditorReadonlyInSession');
}

/** @throws {Fault} `editor/no-trainer-log` */
export async function openLog(run: Run): Promise<void> {
  const file = path.join(run.folder, runFiles.log);
  try {
    await openDocument(vscode.Uri.file(file));
  } catch (cause) {
    const sentence = t('{0} has no log yet: its trainer has not been started.', runName(run, t));
    throw new Fault('editor/no-trainer-log', sentence, { cause });
  }
}

/** @throws {Fault} `editor/no-run-file` */
export async function startFile({ engines, runPanels, runStarter }: App): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined)
    throw new Fault('editor/no-run-file', t('Open the configuration of a run first, a JSON file.'));
  const run = await runStarter.startFrom(document, engines.shown.engine);
  if (run !== undefined) await runPanels.open(run);
}
