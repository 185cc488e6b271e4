import * as vscode from 'vscode';
import { documentScheme } from '../contributions';
import { functionAround, functionText } from '../../core/task/python/functions';
import type { Context } from './thread';

/** Maximum number of characters of a file; more would leave a small model no room for the dialogue. */
const MAX_CHARS = 8_000;

export interface LocatedContext extends Context {
  readonly uri: vscode.Uri;
  readonly range?: vscode.Range;
}

/** Prefix of the ids of context that the editor attaches on its own: the active file, or the selection in it. */
const UNASKED = 'vscode.implicit';

/**
 * Returns the attached files and selections, without Tandem's own documents. Of a file that the editor attached on its
 * own, it takes only the selection, or the function around the cursor.
 */
export async function contextsOf(
  references: readonly vscode.ChatPromptReference[],
): Promise<LocatedContext[]> {
  const contexts = await Promise.all(
    references.map(({ id, value }) => (id.startsWith(UNASKED) ? unasked(id, value) : located(value))),
  );
  return contexts.filter((context) => context !== undefined);
}

async function unasked(id: string, value: unknown): Promise<LocatedContext | undefined> {
  const uri = value instanceof vscode.Location ? value.uri : value;
  if (uri instanceof vscode.Uri && uri.scheme === documentScheme) return undefined;
  return aroundCursor(value) ?? (id === `${UNASKED}.selection` ? located(value) : undefined);
}

async function located(value: unknown): Promise<LocatedContext | undefined> {
  if (value instanceof vscode.Location) return read(value.uri, value.range);
  return value instanceof vscode.Uri ? read(value) : undefined;
}

async function read(uri: vscode.Uri, range?: vscode.Range): Promise<LocatedContext | undefined> {
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const code = document.getText(range).slice(0, MAX_CHARS);
    return { uri, file: nameOf(uri), code, ...(range && { range }) };
  } catch {
    // A folder, a picture or a deleted file has no text.
    return undefined;
  }
}

/** Returns the Python function around the cursor; undefined where there is none, or where something is selected. */
function aroundCursor(value: unknown): LocatedContext | undefined {
  const uri = value instanceof vscode.Location ? value.uri : value;
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !(uri instanceof vscode.Uri)) return undefined;
  const { document, selection } = editor;
  const isShown = document.uri.toString() === uri.toString() && document.languageId === 'python';
  if (!isShown || !selection.isEmpty) return undefined;
  const source = document.getText();
  const around = functionAround(source, selection.active.line);
  if (around === undefined) return undefined;
  const range = new vscode.Range(around.firstLine, 0, around.endLine, 0);
  return { uri, file: nameOf(uri), code: functionText(source, around).slice(0, MAX_CHARS), range };
}

const nameOf = (uri: vscode.Uri): string => vscode.workspace.asRelativePath(uri, false);
