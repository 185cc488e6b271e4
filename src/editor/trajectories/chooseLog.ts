import * as vscode from 'vscode';
import type { Engines } from '../engines';
import type { Engine } from '../engine';
import { dialogues } from '../words';

const { t } = vscode.l10n;

export async function chooseLog({ logs, shown }: Engines): Promise<void> {
  const items = await Promise.all(
    logs.map(async (log) => ({
      label: log.name,
      description: await countOf(log.engine),
      detail: vscode.workspace.asRelativePath(log.engine.dataFolder),
      iconPath: new vscode.ThemeIcon(log.engine === shown.engine ? 'check' : 'blank'),
      log,
    })),
  );
  const chosen = await vscode.window.showQuickPick(items, {
    title: t('Switch Log'),
    placeHolder: t('Choose the log whose dialogues are listed, counted, exported, imported and deleted'),
    matchOnDetail: true,
  });
  if (chosen !== undefined) await shown.show(chosen.log);
}

async function countOf(engine: Engine): Promise<string> {
  try {
    return dialogues((await engine.log()).count().total, t);
  } catch (error) {
    // The others can be chosen all the same; the output channel says why, and so do the views when this log is shown.
    engine.report(error);
    return t('cannot be read');
  }
}
