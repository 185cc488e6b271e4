import path from 'node:path';
import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../../core/fault';
import type { PackCheck } from '../../../core/task/pack';
import type { Packs } from '../../packs';
import { guidelinesOf } from '../../../core/task/guidelines';
import { copyRegular, MB, readBytes } from '../../../core/regularFile';
import { ended } from '../../../core/text';
import { isThere } from '../../../core/trajectory/files';

const { t } = vscode.l10n;

export class PackAdder {
  constructor(private readonly packs: Pick<Packs, 'list'>) {}

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
   * Copies each file with its guidelines, unless the workspace has it already. A file that cannot be added does not
   * stop the others.
   * @param refused reasons why other things could not be added
   * @throws {Fault} when none was added: `editor/no-pack`, `editor/pack-exists`, `editor/pack-not-listed`,
   * `editor/no-folder`, `task/*`
   */
  async add(
    files: readonly string[],
    folder?: vscode.WorkspaceFolder,
    refused: readonly Fault[] = [],
  ): Promise<void> {
    if (files.length === 0) return;
    const chosen = folder ?? (await chooseFolder());
    if (chosen === undefined) return;
    const added: PackCheck[] = [];
    const faults = [...refused];
    for (const file of files) {
      try {
        added.push(await this.taken(file, chosen));
      } catch (error) {
        faults.push(faultOf(error, file));
      }
    }
    tellAll(added, faults);
  }

  async tell(check: PackCheck): Promise<void> {
    await this.packs.list(check.file);
    tellOne(check);
  }

  private async taken(file: string, folder: vscode.WorkspaceFolder): Promise<PackCheck> {
    const check = await checked(file);
    const target = isInside(file) ? file : await takeIn(file, folder.uri.fsPath);
    await this.packs.list(target);
    return { ...check, file: target };
  }
}

function tellOne(check: PackCheck): void {
  const sentence = addedWords(check);
  const [first] = check.bad;
  if (first === undefined) {
    void vscode.window.showInformationMessage(sentence);
    return;
  }
  const show = t('Show Line {0}', first.line);
  // This is not awaited, because the message stays until the person has read it.
  void vscode.window.showWarningMessage(sentence, show).then((pressed) => {
    if (pressed === show) void openLine(check.file, first.line);
  });
}

/** One message, because of several the editor hides the first. @throws {Fault} when none was added */
function tellAll(added: readonly PackCheck[], faults: readonly Fault[]): void {
  const [first, second] = added;
  const [fault, ...more] = faults;
  const whole = (): string =>
    [...added.map(addedWords), ...faults.map(({ message }) => message)].map(ended).join(' ');
  if (fault === undefined) {
    if (first !== undefined && second === undefined) tellOne(first);
    else if (added.some(({ bad }) => bad.length > 0)) void vscode.window.showWarningMessage(whole());
    else void vscode.window.showInformationMessage(whole());
  } else if (first === undefined) {
    throw more.length === 0 ? fault : new Fault(fault.code, whole(), { cause: fault });
  } else void vscode.window.showWarningMessage(whole());
}

function addedWords({ file, tasks, tests, bad }: PackCheck): string {
  const name = vscode.workspace.asRelativePath(file);
  const holds = `${tasks === 1 ? t('1 task') : t('{0} tasks', tasks)}, ${tests === 1 ? t('1 test') : t('{0} tests', tests)}`;
  const [first] = bad;
  if (first === undefined) return t('{0} is in the list: {1}.', name, holds);
  const lines = bad.length === 1 ? t('1 line is not a task') : t('{0} lines are not tasks', bad.length);
  return t(
    '{0} is in the list: {1}. {2}, the first is line {3}: {4}',
    name,
    holds,
    lines,
    first.line,
    first.reason,
  );
}

function faultOf(error: unknown, file: string): Fault {
  if (error instanceof Fault) return error;
  const sentence = t('{0} could not be added: {1}', path.basename(file), messageOf(error));
  return new Fault('editor/pack-not-copied', sentence, { cause: error });
}

export async function chooseFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const [only, ...others] = vscode.workspace.workspaceFolders ?? [];
  if (only === undefined) {
    throw new Fault('editor/no-folder', t('Open a folder first: packs are copied into it.'));
  }
  if (others.length === 0) return only;
  return vscode.window.showWorkspaceFolderPick({ placeHolder: t('Which folder gets the pack?') });
}

const isInside = (file: string): boolean =>
  vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) !== undefined;

async function openLine(file: string, line: number): Promise<void> {
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file), { selection: at });
}

/** @throws {Fault} `editor/no-pack` when no line of it is a task; `task/*` when it cannot be read */
async function checked(file: string): Promise<PackCheck> {
  const { checkPack } = await import('../../../core/task/pack');
  const check = await checkPack(file);
  if (check.tasks > 0) return check;
  const name = path.basename(file);
  const [first] = check.bad;
  throw new Fault(
    'editor/no-pack',
    first === undefined
      ? t('{0} is empty; a pack has one task per line.', name)
      : t('{0} is not a pack: none of its lines is a task. Line {1}: {2}', name, first.line, first.reason),
  );
}

/** Copies a pack and its guidelines. @returns the path of the copy */
async function takeIn(file: string, folder: string): Promise<string> {
  const target = path.join(folder, path.basename(file));
  await copied(file, target);
  const guidelines = await guidelinesOf(file);
  if (guidelines !== undefined) {
    await copied(guidelines, path.join(folder, `${path.parse(file).name}.guidelines.md`));
  }
  return target;
}

/** Copies a file, unless the same file is there already. A different file of that name is not overwritten. */
async function copied(file: string, target: string): Promise<void> {
  const there = await likeness(file, target);
  if (there === 'the same') return;
  if (there === 'another') {
    throw new Fault(
      'editor/pack-exists',
      t('{0} already exists and is a different file; rename one of the two, then add it.', target),
    );
  }
  await copyTo(file, target);
}

const MAX_PACK_BYTES = 1024 * MB;

export async function likeness(file: string, target: string): Promise<'none' | 'the same' | 'another'> {
  if (!(await isThere(target))) return 'none';
  const [given, there] = [await readBytes(file, MAX_PACK_BYTES), await readBytes(target, MAX_PACK_BYTES)];
  return given.equals(there) ? 'the same' : 'another';
}

/** @throws {Fault} `editor/pack-not-copied` */
export async function copyTo(file: string, target: string): Promise<void> {
  try {
    await mkdir(path.dirname(target), { recursive: true });
    // A link without a target does not count as there, and copying would make what it leads to.
    await copyRegular(file, target, { mode: constants.COPYFILE_EXCL });
  } catch (error) {
    throw new Fault(
      'editor/pack-not-copied',
      t('{0} could not be copied here: {1}', path.basename(file), messageOf(error)),
      { cause: error },
    );
  }
}
