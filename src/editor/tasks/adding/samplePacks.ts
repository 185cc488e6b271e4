import path from 'node:path';
import * as vscode from 'vscode';
import type { FolderSettings } from '../../configuration';
import { STARTER } from '../../localModels';
import type { Packs } from '../../packs';
import { chooseFolder } from './addPack';
import { copyTo, likeness } from './addPack';

const { t } = vscode.l10n;

/** The packs that ship with Tandem: tasks of the starter world, and tasks that people wrote. */
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
      void vscode.window.showInformationMessage(
        t('Already here and left unchanged: {0}. They differ from the shipped packs.', changed.join(', ')),
      );
    }
    return files[0];
  }

  /** @returns what was there before */
  private async put(name: string, folder: string): Promise<'none' | 'the same' | 'another'> {
    const shipped = path.join(this.extension.fsPath, 'samples', 'workspace', name);
    const target = path.join(folder, name);
    const there = await likeness(shipped, target);
    if (there === 'none') await copyTo(shipped, target);
    return there;
  }
}
