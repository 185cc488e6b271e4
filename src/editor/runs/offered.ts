import * as vscode from 'vscode';
import { commands, contextKeys } from '../contributions';

const { t } = vscode.l10n;

/** Documents that were made to be started have a button for it. */
const startable = new Set<string>();

/** Says of a configuration that was opened as a file how it is started. */
export async function offerStart(document: vscode.TextDocument): Promise<void> {
  startable.add(document.uri.toString());
  await vscode.commands.executeCommand('setContext', contextKeys.runFiles, [...startable]);
  const start = t('Start Run');
  const chosen = await vscode.window.showInformationMessage(
    t('Change the settings, then start the run, or save the configuration for tandem train.'),
    start,
  );
  if (chosen !== start) return;
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand(commands.startRunFile);
}
