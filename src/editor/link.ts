import * as vscode from 'vscode';

/** Opens a link that an agent wrote, after a question; only https. */
export async function openLink(address: string): Promise<void> {
  if (!/^https:\/\//i.test(address)) return;
  const open = 'Open';
  const chosen = await vscode.window.showInformationMessage(
    'The agent wrote this link. Open it in the browser?',
    { modal: true, detail: address },
    open,
  );
  if (chosen === open) await vscode.env.openExternal(vscode.Uri.parse(address, true));
}
