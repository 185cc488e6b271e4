import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Engine } from '../engine';
import { cancellable } from '../progress';
import { grouped, importWords } from './words';

/** Asks for a file of published trajectory rows and adds them to the log. */
export async function importRows(engine: Engine): Promise<void> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: 'Import Trajectories',
      openLabel: 'Import',
      filters: { 'JSON lines': ['jsonl', 'json'] },
    })) ?? [];
  if (chosen === undefined) return;
  const log = await engine.log();
  const name = path.basename(chosen.fsPath);
  const { importTrajectories } = await import('../../core/trajectory/import');
  const { measureLeak } = await import('../../core/dialogue/leak');
  const result = await cancellable(`Importing ${name}`, (signal, report) =>
    importTrajectories(log, chosen.fsPath, {
      signal,
      measureLeak,
      onProgress: ({ rows }) => report(`${grouped(rows)} rows`),
    }),
  );
  if (result === undefined) {
    void vscode.window.showInformationMessage(
      `The import was cancelled. What was read of ${name} is in the log; importing it again goes on there.`,
    );
    return;
  }
  if (result.bad.length === 0) {
    void vscode.window.showInformationMessage(importWords(result));
    return;
  }
  for (const { file, line, reason } of result.bad) {
    engine.report(new Fault('trajectory/bad-row', `${file}, line ${line}: ${reason}`));
  }
  const showAll = 'Show All';
  const answer = await vscode.window.showWarningMessage(importWords(result), showAll);
  if (answer === showAll) engine.showReports();
}
