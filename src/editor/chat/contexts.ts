import * as vscode from 'vscode';
import { documentScheme } from '../contributions';
import { functionAround, functionText } from '../../core/task/python/functions';
import type { Context } from './thread';

/** More of a file would leave a small model no room for the dialogue. Characters. */
const MOST_CHARACTERS = 8_000;

/** Code that a request is about, and where it stands. */
export interface Located extends Context {
  readonly uri: vscode.Uri;
  readonly range?: vscode.Range;
}

/** How the editor calls what it gives of its own accord: the file that is looked at, or what is selected in it. */
const UNASKED = 'vscode.implicit';

/**
 * What a person gave with the request: files and selections. Of a file that nobody has named but that is looked at, only
 * what is selected in it, or the function around the cursor; and nothing of the documents that Tandem itself shows, such
 * as the reference of a task.
 */
export async function contextsOf(references: readonly vscode.ChatPromptReference[]): Promise<Located[]> {
  const contexts = await Promise.all(
    references.map(({ id, value }) => (id.startsWith(UNASKED) ? unasked(id, value) : located(value))),
  );
  return contexts.filter((context) => context !== undefined);
}

async function unasked(id: string, value: unknown): Promise<Located | undefined> {
  const uri = value instanceof vscode.Location ? value.uri : value;
  if (uri instanceof vscode.Uri && uri.scheme === documentScheme) return undefined;
  return aroundCursor(value) ?? (id === `${UNASKED}.selection` ? located(value) : undefined);
}

async function located(value: unknown): Promise<Located | undefined> {
  if (value instanceof vscode.Location) return read(value.uri, value.range);
  return value instanceof vscode.Uri ? read(value) : undefined;
}

async function read(uri: vscode.Uri, range?: vscode.Range): Promise<Located | undefined> {
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const code = document.getText(range).slice(0, MOST_CHARACTERS);
    return { uri, file: nameOf(uri), code, ...(range && { range }) };
  } catch {
    // A folder, a picture, or a file that is gone: there is no text to give.
    return undefined;
  }
}

/** The Python function around the cursor; undefined where there is none, or where something is selected. */
function aroundCursor(value: unknown): Located | undefined {
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
  return { uri, file: nameOf(uri), code: functionText(source, around).slice(0, MOST_CHARACTERS), range };
}

const nameOf = (uri: vscode.Uri): string => vscode.workspace.asRelativePath(uri, false);
