import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { helpPages, type HelpPage } from '../../webview/ui/protocol';
import { RENDERED } from './documents';

const { t } = vscode.l10n;

/** The pages are in the package, so that they fit its version and need no network. */
export async function openHelp(extension: vscode.Uri, page: HelpPage): Promise<void> {
  await vscode.commands.executeCommand('vscode.openWith', pageUri(extension, page), RENDERED);
}

/** @param named by a link of a webview; for anything but a page, the person is asked */
export async function openNamedHelp(extension: vscode.Uri, named: unknown): Promise<void> {
  const page = helpPages.find((one) => one === named) ?? (await askForPage(extension));
  if (page !== undefined) await openHelp(extension, page);
}

async function askForPage(extension: vscode.Uri): Promise<HelpPage | undefined> {
  const rows = helpPages.map(async (page) => ({ label: await titleOf(pageUri(extension, page)), page }));
  const chosen = await vscode.window.showQuickPick(Promise.all(rows), {
    title: t('Help'),
    placeHolder: t('Choose a page'),
  });
  return chosen?.page;
}

const pageUri = (extension: vscode.Uri, page: HelpPage): vscode.Uri =>
  vscode.Uri.joinPath(extension, 'docs', `${page}.md`);

async function titleOf({ fsPath }: vscode.Uri): Promise<string> {
  const [heading = ''] = (await readFile(fsPath, 'utf8')).split('\n', 1);
  return heading.replace(/^# /, '');
}
