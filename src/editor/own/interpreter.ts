import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { chosenPython } from '../pythonEnvironments';

/**
 * The Python in which a developer runs the code of a folder: the one that is chosen in the editor, else that of
 * `python.defaultInterpreterPath`, else that of the folder's `.venv`, else the first one on the path.
 */
export async function ownPython({ uri }: vscode.WorkspaceFolder): Promise<string> {
  const chosen = await chosenPython(uri);
  if (chosen !== undefined) return chosen;
  const named = vscode.workspace.getConfiguration('python', uri).get<unknown>('defaultInterpreterPath');
  const isWindows = process.platform === 'win32';
  // The setting of the Python extension has `python` where nobody has chosen.
  if (typeof named === 'string' && named.trim() !== '' && named !== 'python') {
    const file = named.trim().replaceAll('${workspaceFolder}', uri.fsPath);
    return path.resolve(uri.fsPath, file);
  }
  const own = path.join(uri.fsPath, '.venv', ...(isWindows ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  if (existsSync(own)) return own;
  return isWindows ? 'python' : 'python3';
}
