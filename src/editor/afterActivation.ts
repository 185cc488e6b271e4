import * as vscode from 'vscode';

/** Does what nobody waits for while the extension is activated as soon as that is over, unless it is disposed of before. */
export function afterActivation(work: () => void): vscode.Disposable {
  const soon = setImmediate(work);
  return new vscode.Disposable(() => clearImmediate(soon));
}
