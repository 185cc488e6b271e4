import * as vscode from 'vscode';

const MINUTE_MS = 60_000;

/** Draws a view anew every minute that it is seen, so that "5 min ago" is true. */
export function eachMinute(
  view: Pick<vscode.TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  show: () => void,
): vscode.Disposable {
  const timer = setInterval(() => {
    if (view.visible) show();
  }, MINUTE_MS);
  const becomesVisible = view.onDidChangeVisibility(({ visible }) => {
    if (visible) show();
  });
  return new vscode.Disposable(() => {
    clearInterval(timer);
    becomesVisible.dispose();
  });
}
