import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { draftedRequest } from '../../core/task/own';
import { functionAround, type PythonFunction } from '../../core/task/python/functions';
import { idOf } from '../contributions';

const { t } = vscode.l10n;

export interface FunctionAtCursor {
  readonly document: vscode.TextDocument;
  readonly function: PythonFunction;
}

/** The selected Python function, else the one around the cursor. @throws {Fault} `editor/no-function` */
export function pointedAt(): FunctionAtCursor {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'python') {
    throw new Fault('editor/no-function', t('Open a Python file and put the cursor into a function first.'));
  }
  const { document, selection } = editor;
  const found = functionAround(document.getText(), lineOf(document, selection));
  if (found !== undefined) return { document, function: found };
  throw new Fault(
    'editor/no-function',
    t('The cursor is not in a function. Move it into one; a signature with a docstring is enough.'),
  );
}

/** Asks for the request of a task about the function, with a draft from its docstring and name. */
export function askRequest(
  wanted: PythonFunction,
  title: string,
  prompt: string,
): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    ...{ title, prompt, value: draftedRequest(wanted), ignoreFocusOut: true },
    validateInput: (text) =>
      text.trim() === '' ? t('Write a sentence about what it should do.') : undefined,
  });
}

/** Returns the line where a selection begins, because the selection of a whole function ends on the line after it. */
function lineOf(document: vscode.TextDocument, { isEmpty, active, start, end }: vscode.Selection): number {
  if (isEmpty) return active.line;
  let { line } = start;
  while (line < end.line && document.lineAt(line).isEmptyOrWhitespace) line += 1;
  return line;
}

/** Adds an action to the light bulb's menu on the line where a function begins. */
export class FunctionActions implements vscode.CodeActionProvider, vscode.Disposable {
  private readonly registration: vscode.Disposable;

  constructor(private readonly titles: () => ReadonlyMap<string, string>) {
    const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.RefactorRewrite] };
    this.registration = vscode.languages.registerCodeActionsProvider({ language: 'python' }, this, kinds);
  }

  provideCodeActions(document: vscode.TextDocument, { start }: vscode.Range): vscode.CodeAction[] {
    if (!/^\s*(?:async\s+)?def\s/.test(document.lineAt(start.line).text)) return [];
    const title = `Tandem: ${this.titles().get(idOf('collaborateOnFunction')) ?? ''}`;
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.RefactorRewrite);
    action.command = { command: idOf('collaborateOnFunction'), title };
    return [action];
  }

  dispose(): void {
    this.registration.dispose();
  }
}
