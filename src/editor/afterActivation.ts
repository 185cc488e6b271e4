import * as vscode from 'vscode';

/** Runs work after the extension's activation, which it would delay; disposal before that cancels it. */
export function afterActivation(work: () => void): vscode.Disposable {
  const soon = setImmediate(work);
  return new vscode.Disposable(() => clearImmediate(soon));
}
