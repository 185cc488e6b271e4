import { setTimeout as pause } from 'node:timers/promises';
import * as vscode from 'vscode';
import { Fault } from '../core/fault';

/** How long the editor may take to notice that another program has written a file, in milliseconds. */
const NOTICED_MS = 10_000;
const LOOK_EVERY_MS = 50;

/**
 * Resolves when the editor knows the settings of this workspace as they stand in their file. When another program has
 * just rewritten it, the editor still has the old text: a setting that is in there already would be written as no
 * change at all, and the other program's value would stay, without an error.
 * @throws {Fault} `editor/settings-changed`
 */
export async function settingsAreKnown(): Promise<void> {
  const file = settingsFile();
  if (file === undefined || !(await isThere(file))) return;
  const document = await vscode.workspace.openTextDocument(file);
  for (let waited = 0; waited < NOTICED_MS; waited += LOOK_EVERY_MS) {
    // What a person has typed there and not saved the editor itself refuses to write over, and says so.
    if (document.isDirty || plain(document.getText()) === plain(await textOf(file))) return;
    await pause(LOOK_EVERY_MS);
  }
  const name = vscode.workspace.asRelativePath(file, false);
  throw new Fault(
    'editor/settings-changed',
    vscode.l10n.t(
      'Another program has just written {0}, and the editor has not noticed yet. Try again in a moment.',
      name,
    ),
  );
}

function settingsFile(): vscode.Uri | undefined {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  if (workspaceFile !== undefined) return workspaceFile.scheme === 'file' ? workspaceFile : undefined;
  const folder = workspaceFolders?.[0]?.uri;
  return folder && vscode.Uri.joinPath(folder, '.vscode', 'settings.json');
}

async function isThere(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(file);
    return true;
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return false;
    throw error;
  }
}

async function textOf(file: vscode.Uri): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
}

/** The editor keeps one kind of line end in a document. */
function plain(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
