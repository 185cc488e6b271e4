import * as vscode from 'vscode';

/** @param options `changes`: false for folders, which change with every file in them */
export function watch(
  folder: string,
  glob: string,
  onEvent: () => void,
  { changes = true } = {},
): vscode.Disposable {
  const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), glob);
  const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, !changes);
  return vscode.Disposable.from(
    watcher,
    ...[watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete].map((event) => event(onEvent)),
  );
}
