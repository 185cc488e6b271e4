import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../../core/fault';
import type { TaskNode } from '../items';
import type { PackAdder } from './addPack';

const { t } = vscode.l10n;

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

  /** Adds the dropped files; on a row of a pack, into the folder of the workspace that holds the pack. */
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
    const files = addresses.filter(isFile).map(({ fsPath }) => fsPath);
    const refused = addresses.filter((address) => !isFile(address)).map(notAFile);
    const [first] = refused;
    if (first !== undefined && files.length === 0) throw first;
    await this.adder.add(files, folder, refused);
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

/** Returns the lines of a list of addresses; those that begin with `#` are comments (RFC 2483). */
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
