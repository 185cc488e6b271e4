import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { cancellable } from '../progress';
import type { ShownLog } from '../shownLog';
import { grouped } from '../../core/text';
import { importWords, mergeWords } from './words';

const { t } = vscode.l10n;

export async function importTrajectories(shown: ShownLog): Promise<void> {
  const { name: folder } = shown;
  const title = folder === undefined ? t('Import Trajectories') : t('Import Trajectories Into {0}', folder);
  const kinds = [
    { label: t('Published rows'), detail: t('A file of JSON lines, one for each dialogue'), from: fromFile },
    {
      label: t('Another data folder'),
      detail: t('What others have played, or other machines collected: a copy of their .tandem'),
      from: fromFolder,
    },
  ];
  const kind = await vscode.window.showQuickPick(kinds, { title, matchOnDetail: true });
  await kind?.from(shown, title);
}

/** Adds the dialogues of another data folder, whole, with the consents that stand there. */
async function fromFolder({ engine }: ShownLog, title: string): Promise<void> {
  const options = { title, openLabel: t('Import'), canSelectFiles: false, canSelectFolders: true };
  const [chosen] = (await vscode.window.showOpenDialog(options)) ?? [];
  if (chosen === undefined) return;
  const log = await engine.log();
  const merged = await cancellable(t('Importing {0}', path.basename(chosen.fsPath)), (signal) =>
    log.merge(chosen.fsPath, signal),
  );
  if (merged === undefined) {
    void vscode.window.showInformationMessage(
      t('The import was cancelled. What was read is in the log; importing it again continues from there.'),
    );
    return;
  }
  void vscode.window.showInformationMessage(mergeWords(merged, t));
}

async function fromFile({ engine }: ShownLog, title: string): Promise<void> {
  const filters = { [t('JSON lines')]: ['jsonl', 'json'] };
  const [chosen] = (await vscode.window.showOpenDialog({ title, openLabel: t('Import'), filters })) ?? [];
  if (chosen === undefined) return;
  const log = await engine.log();
  const name = path.basename(chosen.fsPath);
  const core = await import('../../core/trajectory/import');
  const { measureLeak } = await import('../../core/dialogue/leak');
  const result = await cancellable(t('Importing {0}', name), (signal, report) =>
    core.importTrajectories(log, chosen.fsPath, {
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
