import * as vscode from 'vscode';
import { functionAround, functionText } from '../../core/task/python/functions';
import type { Context } from './thread';

/** More of a file would leave a small model no room for the dialogue. Characters. */
const MOST_CHARACTERS = 8_000;

/** Code that a request is about, and where it stands. */
export interface Located extends Context {
  readonly uri: vscode.Uri;
  readonly range?: vscode.Range;
}

/**
 * What the request names (files, selections), else what is selected, else the function around the cursor. More of the
 * person's code is not taken unasked.
 */
export async function contextsOf(references: readonly vscode.ChatPromptReference[]): Promise<Located[]> {
  const named = await Promise.all(references.map(({ value }) => located(value)));
  const found = named.filter((context) => context !== undefined);
  if (found.length > 0) return found;
  const own = fromEditor(vscode.window.activeTextEditor);
  return own === undefined ? [] : [own];
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

function fromEditor(editor: vscode.TextEditor | undefined): Located | undefined {
  if (editor === undefined) return undefined;
  const { document, selection } = editor;
  const { uri } = document;
  if (!['file', 'vscode-remote', 'untitled'].includes(uri.scheme)) return undefined;
  if (!selection.isEmpty) {
    const code = document.getText(selection).slice(0, MOST_CHARACTERS);
    return { uri, file: nameOf(uri), code, range: selection };
  }
  if (document.languageId !== 'python') return undefined;
  const source = document.getText();
  const around = functionAround(source, selection.active.line);
  if (around === undefined) return undefined;
  const range = new vscode.Range(around.firstLine, 0, around.endLine, 0);
  return { uri, file: nameOf(uri), code: functionText(source, around).slice(0, MOST_CHARACTERS), range };
}

const nameOf = (uri: vscode.Uri): string => vscode.workspace.asRelativePath(uri, false);
