import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../../core/fault';
import type { Configuration } from '../../configuration';
import { STARTER } from '../../models/places';
import type { Packs } from '../packs';
import { chooseFolder } from './add';

const { t } = vscode.l10n;

/** The packs that ship with Tandem: tasks of the starter world, and those that people wrote. */
const PACKS = ['starter-world', 'starter'];

/** Puts the packs that ship with Tandem into the workspace, where they can be read and changed. */
export class StarterPacks {
  constructor(
    private readonly extension: vscode.Uri,
    private readonly configuration: Configuration,
    private readonly packs: Packs,
  ) {}

  /**
   * Who has no agent yet gets the one that ships too, so that the first dialogue needs no configuration.
   * @returns the file of the first pack; undefined when the person chose no folder
   * @throws {Fault} `editor/no-starter`, `editor/no-folder`
   */
  async add(): Promise<string | undefined> {
    const folder = await chooseFolder();
    if (folder === undefined) return undefined;
    for (const name of PACKS.flatMap((pack) => [`${pack}.jsonl`, `${pack}.guidelines.md`])) {
      await this.copy(name, folder.uri);
    }
    if (this.configuration.agent === '') await this.configuration.set('agent', STARTER);
    this.packs.refresh();
    return path.join(folder.uri.fsPath, `${PACKS[0]}.jsonl`);
  }

  private async copy(name: string, folder: vscode.Uri): Promise<void> {
    const shipped = vscode.Uri.joinPath(this.extension, 'samples', 'workspace', name);
    try {
      await vscode.workspace.fs.copy(shipped, vscode.Uri.joinPath(folder, name));
    } catch (error) {
      throw new Fault('editor/no-starter', t('{0} could not be copied here: {1}', name, messageOf(error)), {
        cause: error,
      });
    }
  }
}
