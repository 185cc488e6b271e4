import * as vscode from 'vscode';

const { t } = vscode.l10n;

/** Opens a link that an agent wrote, after a question; only https. */
export async function openLink(address: string): Promise<void> {
  if (!/^https:\/\//i.test(address)) return;
  const open = t('Open');
  const chosen = await vscode.window.showInformationMessage(
    t('The agent wrote this link. Open it in the browser?'),
    { modal: true, detail: address },
    open,
  );
  if (chosen === open) await vscode.env.openExternal(vscode.Uri.parse(address, true));
}
