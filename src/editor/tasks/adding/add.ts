import * as vscode from 'vscode';
import { Fault } from '../../../core/fault';
import type { PackCheck } from '../../../core/task/pack';
import type { Packs } from '../packs';
import { checked, takeIn } from './files';

const { t } = vscode.l10n;

/** Takes files into the workspace as packs, and says what they hold. */
export class PackAdder {
  constructor(private readonly packs: Packs) {}

  /** Asks for files. */
  async ask(): Promise<void> {
    const files = await vscode.window.showOpenDialog({
      title: t('Add Packs'),
      openLabel: t('Add'),
      canSelectMany: true,
      filters: { [t('Packs (JSON Lines)')]: ['jsonl'] },
    });
    await this.add(files?.map(({ fsPath }) => fsPath) ?? []);
  }

  /**
   * Copies each file into the folder, with its guidelines, unless the workspace has it already.
   * @param folder by default the only one of the workspace, or the one that the person chooses
   * @throws {Fault} `editor/no-pack`, `editor/pack-exists`, `editor/pack-not-listed`, `editor/no-folder`, `task/*`
   */
  async add(files: readonly string[], folder?: vscode.WorkspaceFolder): Promise<void> {
    if (files.length === 0) return;
    const chosen = folder ?? (await chooseFolder());
    if (chosen === undefined) return;
    for (const file of files) {
      const check = await checked(file);
      const target = isInside(file) ? file : await takeIn(file, chosen.uri.fsPath);
      await this.tell({ ...check, file: target });
    }
  }

  /** Says what a file of the workspace holds, now that the list shows it. */
  async tell(check: PackCheck): Promise<void> {
    const { file, bad } = check;
    await this.packs.list(file);
    const name = vscode.workspace.asRelativePath(file);
    const [first] = bad;
    if (first === undefined) {
      void vscode.window.showInformationMessage(t('{0} is in the list: {1}.', name, countsOf(check)));
      return;
    }
    const show = t('Show Line {0}', first.line);
    const lines = bad.length === 1 ? t('1 line is no task') : t('{0} lines are no task', bad.length);
    const sentence = t(
      '{0} is in the list: {1}. {2}, the first is line {3}: {4}',
      name,
      countsOf(check),
      lines,
      first.line,
      first.reason,
    );
    // Not awaited: the message stays until the person has read it.
    void vscode.window.showWarningMessage(sentence, show).then((pressed) => {
      if (pressed === show) void openLine(file, first.line);
    });
  }
}

/** The folder of the workspace that gets a file; undefined when the person turned back. */
export async function chooseFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const [only, ...others] = vscode.workspace.workspaceFolders ?? [];
  if (only === undefined) {
    throw new Fault('editor/no-folder', t('Open a folder first: packs are copied into it.'));
  }
  if (others.length === 0) return only;
  return vscode.window.showWorkspaceFolderPick({ placeHolder: t('Which folder gets the pack?') });
}

function countsOf({ tasks, tests }: PackCheck): string {
  return `${tasks === 1 ? t('1 task') : t('{0} tasks', tasks)}, ${tests === 1 ? t('1 test') : t('{0} tests', tests)}`;
}

const isInside = (file: string): boolean =>
  vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) !== undefined;

async function openLine(file: string, line: number): Promise<void> {
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file), { selection: at });
}
