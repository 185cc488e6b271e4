import * as vscode from 'vscode';

/** @param file that a file manager selects @param sentence says where it is, for a window that can show neither */
export async function revealFolder(folder: string, file: string, sentence: string): Promise<void> {
  const uri = vscode.Uri.file(folder);
  if (vscode.workspace.getWorkspaceFolder(uri) !== undefined) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
  } else if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.joinPath(uri, file));
  } else {
    const copy = vscode.l10n.t('Copy Path');
    if ((await vscode.window.showInformationMessage(sentence, copy)) === copy)
      await vscode.env.clipboard.writeText(folder);
  }
}
