import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { cancellable } from '../progress';
import type { ShownLog } from '../shownLog';
import { grouped } from '../../core/text';
import { importWords } from './words';

const { t } = vscode.l10n;

/** Asks for a file of published trajectory rows and adds them to the shown log. */
export async function importRows({ engine, name: folder }: ShownLog): Promise<void> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: folder === undefined ? t('Import Trajectories') : t('Import Trajectories Into {0}', folder),
      openLabel: t('Import'),
      filters: { [t('JSON lines')]: ['jsonl', 'json'] },
    })) ?? [];
  if (chosen === undefined) return;
  const log = await engine.log();
  const name = path.basename(chosen.fsPath);
  const { importTrajectories } = await import('../../core/trajectory/import');
  const { measureLeak } = await import('../../core/dialogue/leak');
  const result = await cancellable(t('Importing {0}', name), (signal, report) =>
    importTrajectories(log, chosen.fsPath, {
      signal,
      measureLeak,
      onProgress: ({ rows }) => report(t('{0} rows', grouped(rows))),
    }),
  );
  if (result === undefined) {
    void vscode.window.showInformationMessage(
      t(
        'The import was cancelled. What was read from {0} is in the log; importing it again continues from there.',
        name,
      ),
    );
    return;
  }
  if (result.bad.length === 0) {
    void vscode.window.showInformationMessage(importWords(result, t));
    return;
  }
  for (const { file, line, reason } of result.bad) {
    engine.report(new Fault('trajectory/bad-row', `${file}, line ${line}: ${reason}`));
  }
  const showAll = t('Show All');
  const answer = await vscode.window.showWarningMessage(importWords(result, t), showAll);
  if (answer === showAll) engine.showReports();
}
