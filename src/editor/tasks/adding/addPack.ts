import path from 'node:path';
import os from 'node:os';
import { constants } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../../core/fault';
import type { PackCheck } from '../../../core/task/pack';
import type { Packs } from '../../packs';
import { guidelinesOf } from '../../../core/task/guidelines';
import { copyRegular, MB, readBytes } from '../../../core/regularFile';
import { ended } from '../../../core/text';
import { isThere } from '../../../core/trajectory/files';
import type { FolderSettings } from '../../configuration';
import { STARTER } from '../../localModels';
import type { TaskNode } from '../items';
import { inform } from '../../inputSteps';

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
    tellAll([check], []);
  }

  private async taken(file: string, folder: vscode.WorkspaceFolder): Promise<PackCheck> {
    const check = await checked(file);
    const target = isInside(file) ? file : await takeIn(file, folder.uri.fsPath);
    await this.packs.list(target);
    return { ...check, file: target };
  }
}

/** One message, because of several the editor hides the first. @throws {Fault} when none was added */
function tellAll(added: readonly PackCheck[], faults: readonly Fault[]): void {
  const words = [...added.map(addedWords), ...faults.map(({ message }) => message)].map(ended).join(' ');
  const [fault, ...more] = faults;
  if (added.length === 0 && fault !== undefined)
    throw more.length === 0 ? fault : new Fault(fault.code, words, { cause: fault });
  const faulty = added.find(({ bad }) => bad.length > 0);
  if (fault === undefined && faulty === undefined) inform(words);
  // This is not awaited, because the message stays until the person has read it.
  else void warn(words, faulty);
}

async function warn(words: string, faulty: PackCheck | undefined): Promise<void> {
  const [first] = faulty?.bad ?? [];
  const show = first === undefined ? [] : [t('Show Line {0}', first.line)];
  const pressed = await vscode.window.showWarningMessage(words, ...show);
  if (pressed !== undefined) await openLine(faulty!.file, first!.line);
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

const PACKS = ['starter-world', 'web-pages', 'written-by-hand'];

/** Copies the packs that ship with Tandem into the workspace, where they can be read and changed. */
export class SamplePacks {
  constructor(
    private readonly extension: vscode.Uri,
    private readonly configuration: Pick<FolderSettings, 'agent' | 'set'>,
    private readonly packs: Pick<Packs, 'list'>,
  ) {}

  /**
   * Existing files stay; a removed pack is listed again. Without an agent, the starter model becomes the agent.
   * @returns the file of the first pack; undefined when the person chose no folder
   * @throws {Fault} `editor/no-folder`, `editor/pack-not-copied`, `editor/pack-not-listed`
   */
  async add(): Promise<string | undefined> {
    const folder = await chooseFolder();
    if (folder === undefined) return undefined;
    const { fsPath } = folder.uri;
    const changed: string[] = [];
    for (const name of PACKS.flatMap((pack) => [`${pack}.jsonl`, `${pack}.guidelines.md`])) {
      if ((await this.put(name, fsPath)) === 'another') changed.push(name);
    }
    if (this.configuration.agent === '') await this.configuration.set('agent', STARTER);
    const files = PACKS.map((pack) => path.join(fsPath, `${pack}.jsonl`));
    for (const file of files) await this.packs.list(file);
    if (changed.length > 0) {
      inform(
        t('Already here and left unchanged: {0}. They differ from the shipped packs.', changed.join(', ')),
      );
    }
    return files[0];
  }

  private async put(name: string, folder: string): Promise<'none' | 'the same' | 'another'> {
    const shipped = path.join(this.extension.fsPath, 'samples', 'workspace', name);
    const target = path.join(folder, name);
    const there = await likeness(shipped, target);
    if (there === 'none') await copyTo(shipped, target);
    return there;
  }
}

/** Files of the explorer and of the desktop arrive as addresses; those of a browser arrive as content. */
const ADDRESSES = 'text/uri-list';
const FILES = 'files';

export class PackDrop implements vscode.TreeDragAndDropController<TaskNode> {
  readonly dropMimeTypes = [ADDRESSES, FILES];
  readonly dragMimeTypes = [];

  constructor(
    private readonly adder: PackAdder,
    private readonly show: (error: unknown) => void,
  ) {}

  async handleDrop(target: TaskNode | undefined, data: vscode.DataTransfer): Promise<void> {
    try {
      const addresses = await addressesIn(data);
      if (addresses.length > 0) await this.addFiles(addresses, folderAt(target));
      else await this.addContents(data, folderAt(target));
    } catch (error) {
      this.show(error);
    }
  }

  private async addFiles(addresses: readonly vscode.Uri[], folder?: vscode.WorkspaceFolder): Promise<void> {
    const { files = [], others = [] } = Object.groupBy(addresses, (one) =>
      isFile(one) ? 'files' : 'others',
    );
    const refused = others.map(notAFile);
    if (refused[0] !== undefined && files.length === 0) throw refused[0];
    await this.adder.add(
      files.map(({ fsPath }) => fsPath),
      folder,
      refused,
    );
  }

  private async addContents(data: vscode.DataTransfer, folder?: vscode.WorkspaceFolder): Promise<void> {
    const staging = await mkdtemp(path.join(os.tmpdir(), 'tandem-drop-'));
    try {
      const files: string[] = [];
      for (const [, item] of data) {
        const dropped = item.asFile();
        if (dropped === undefined) continue;
        const file = path.join(staging, path.basename(dropped.name));
        await writeFile(file, await dropped.data());
        files.push(file);
      }
      await this.adder.add(files, folder);
    } finally {
      await rm(staging, { recursive: true });
    }
  }
}

/** Lines of the list that begin with `#` are comments (RFC 2483). */
async function addressesIn(data: vscode.DataTransfer): Promise<vscode.Uri[]> {
  const list = (await data.get(ADDRESSES)?.asString()) ?? '';
  const lines = list.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => vscode.Uri.parse(line, true));
}

/** In a remote window such addresses name the remote machine, on which Tandem runs. */
const isFile = ({ scheme }: vscode.Uri): boolean => scheme === 'file' || scheme === 'vscode-remote';

function notAFile(address: vscode.Uri): Fault {
  return new Fault(
    'editor/not-a-file',
    t('{0} is not a file on this machine; save it as a file, then drop that.', address.toString()),
  );
}

function folderAt(target: TaskNode | undefined): vscode.WorkspaceFolder | undefined {
  if (target === undefined || target.kind === 'teach') return undefined;
  const file =
    target.kind === 'task' ? target.task.pack : target.kind === 'bad' ? target.bad.file : target.pack.file;
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
}
