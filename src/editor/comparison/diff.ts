import path from 'node:path';
import * as vscode from 'vscode';
import { runFiles } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import { chooseRun } from './choosing';
import { namesOf } from './names';

const { t } = vscode.l10n;

/** The configurations of two of the runs side by side, to be read. */
export async function openDiff(runs: readonly Run[]): Promise<void> {
  const left = runs.length === 2 ? runs[0] : await chooseRun(runs, t('The configuration on the left'));
  if (left === undefined) return;
  const others = runs.filter((run) => run !== left);
  const right =
    others.length === 1 ? others[0] : await chooseRun(others, t('The configuration on the right'));
  if (right === undefined) return;
  const uri = ({ folder }: Run): vscode.Uri => vscode.Uri.file(path.join(folder, runFiles.configuration));
  const title = namesOf([left, right], t).join(' ↔ ');
  await vscode.commands.executeCommand('vscode.diff', uri(left), uri(right), title);
  await vscode.commands.executeCommand('workbench.action.files.setActiveEditorReadonlyInSession');
}
