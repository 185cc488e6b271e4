import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { draftedRequest } from '../../core/task/own';
import { functionAround, stubsIn, type PythonFunction } from '../../core/task/python/functions';
import { Owner } from '../background';
import { idOf } from '../contributions';

const { t } = vscode.l10n;

/** A larger file is generated, and its lenses would be found again after each pause in typing. */
const MAX_LENS_CHARS = 200_000;

export interface FunctionAtCursor {
  readonly document: vscode.TextDocument;
  readonly function: PythonFunction;
}

/** Function of a lens. A menu names a file only, in which the cursor counts. */
const placeSchema = lazily(() => z.object({ file: z.string(), line: z.number() }));

type Place = z.infer<ReturnType<typeof placeSchema>>;

/**
 * The function at a place, else the selected Python function, else the one around the cursor.
 * @throws {Fault} `editor/no-function`
 */
export function pointedAt(what?: unknown): FunctionAtCursor {
  const place = placeSchema().safeParse(what).data;
  const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === place?.file);
  const there = shown && functionAround(shown.getText(), place!.line);
  if (there !== undefined) return { document: shown!, function: there };
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

/**
 * Offers to collaborate on a function: in the light bulb's menu on the line where it begins and, while nothing is
 * written of it, in a lens above it, which the editor's own setting `editor.codeLens` switches off.
 */
export class FunctionActions extends Owner implements vscode.CodeActionProvider, vscode.CodeLensProvider {
  readonly onDidChangeCodeLenses = vscode.workspace.onDidGrantWorkspaceTrust;

  constructor(private readonly titles: () => ReadonlyMap<string, string>) {
    super();
    const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.RefactorRewrite] };
    const python = { language: 'python' };
    this.owns(
      vscode.languages.registerCodeActionsProvider(python, this, kinds),
      vscode.languages.registerCodeLensProvider(python, this),
    );
  }

  provideCodeActions(document: vscode.TextDocument, { start }: vscode.Range): vscode.CodeAction[] {
    if (!/^\s*(?:async\s+)?def\s/.test(document.lineAt(start.line).text)) return [];
    const title = `Tandem: ${this.titles().get(idOf('collaborateOnFunction')) ?? ''}`;
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.RefactorRewrite);
    action.command = { command: idOf('collaborateOnFunction'), title };
    return [action];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const isOfWorkspace =
      vscode.workspace.isTrusted && vscode.workspace.getWorkspaceFolder(document.uri) !== undefined;
    const source = document.getText();
    // The functions of a stub file have their bodies elsewhere.
    if (!isOfWorkspace || document.fileName.endsWith('.pyi') || source.length > MAX_LENS_CHARS) return [];
    return stubsIn(source).map(
      ({ firstLine, defLine }) =>
        new vscode.CodeLens(new vscode.Range(firstLine, 0, firstLine, 0), {
          title: t('Collaborate with the agent…'),
          tooltip: t('Tandem: you say what the function should do, and the agent asks before it writes it'),
          command: idOf('collaborateOnFunction'),
          arguments: [{ file: document.uri.toString(), line: defLine } satisfies Place],
        }),
    );
  }
}
