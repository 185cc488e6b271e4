import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { FolderSettings } from '../configuration';
import type { Engine } from '../engine';
import { revealFolder } from '../documents';
import type { LocalPlace } from '../localModels';
import { inUse, rolesOf } from '../roles';
import { pickFolder } from '../inputSteps';

const { t } = vscode.l10n;

export class ModelFolders {
  constructor(
    private readonly configuration: FolderSettings,
    private readonly engine: Engine,
  ) {}

  get places(): readonly LocalPlace[] {
    return this.engine.localPlaces;
  }

  async addAndOffer(): Promise<void> {
    const place = await this.add();
    if (place === undefined) return;
    const use = t('Use as Agent');
    const chosen = await vscode.window.showInformationMessage(
      t('{0} is in the list of models.', place.name),
      use,
    );
    if (chosen === use) await this.configuration.set('agent', place.spec);
  }

  /** @throws {Fault} when the folder holds no model that can play here */
  async add(): Promise<LocalPlace | undefined> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const chosen = await pickFolder(t('Model folder'), t('Add'), folder);
    if (chosen === undefined) return undefined;
    await this.engine.locals.check(chosen.fsPath);
    const there = this.at(chosen.fsPath);
    if (there?.from !== 'list') {
      const written = vscode.workspace.asRelativePath(chosen, false);
      await this.configuration.set('modelFolders', [...this.configuration.modelFolders, written]);
    }
    return this.at(chosen.fsPath);
  }

  /** The folder itself stays. */
  async remove({ folder, name, spec, from }: LocalPlace): Promise<void> {
    const { configuration } = this;
    const [role] = rolesOf(spec, configuration);
    if (role !== undefined) {
      throw new Fault('editor/model-in-use', inUse(name, role, t));
    }
    if (from !== 'list') return;
    const others = configuration.modelFolders.filter((written) => configuration.resolve(written) !== folder);
    await configuration.set('modelFolders', others);
    await configuration.forgetSecondAgent(spec);
  }

  /** In the explorer when the workspace holds it, else in the system's file manager. */
  async reveal({ folder }: LocalPlace): Promise<void> {
    await revealFolder(folder, 'config.json', t('The model is in {0}.', folder));
  }

  private at(folder: string): LocalPlace | undefined {
    return this.places.find((place) => path.relative(place.folder, folder) === '');
  }
}
