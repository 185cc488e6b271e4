import path from 'node:path';
import * as vscode from 'vscode';
import { runsOf, type Run } from '../../core/training/runs';
import type { Engine } from '../engine';
import { namesOf } from '../run/words';

const { t } = vscode.l10n;

/** The pictures are written beside the report. */
export async function reportRuns(runs: readonly Run[], { configuration }: Engine): Promise<void> {
  const folder = configuration.folder?.uri;
  const target = await vscode.window.showSaveDialog({
    title: t('Write Report'),
    saveLabel: t('Write'),
    filters: { Markdown: ['md'] },
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, 'report.md') }),
  });
  if (target === undefined) return;
  const { writeReport } = await import('../../core/evaluation/comparison/report/write');
  await writeReport(target.fsPath, {
    runs: runsOf(runs[0]!),
    of: runs,
    names: namesOf(runs),
    workspace: folder?.fsPath ?? '',
  });
  const open = t('Open the Report');
  const chosen = await vscode.window.showInformationMessage(
    t('The report is in {0}, its pictures are beside it.', path.basename(target.fsPath)),
    open,
  );
  if (chosen === open) await vscode.commands.executeCommand('markdown.showPreview', target);
}
