import * as vscode from 'vscode';
import { afterActivation } from '../afterActivation';
import type { FolderSettings } from '../configuration';

/** Models that training leaves in the data folder, with the names of their runs. */
const TRAINED = '{runs/*/model/**,loops/*/model/**,runs/*/notes.json}';
const ON_THE_WAY = '{runs,loops,runs/*,loops/*,runs/*/model,loops/*/model}';
/** Milliseconds without a change: a model is many files, written one after another. */
const QUIET_MS = 400;

/** Reports that a local model may have appeared, vanished or been replaced. */
export class ModelWatcher implements vscode.Disposable {
  private watched = '';
  private watchers: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly registrations: readonly vscode.Disposable[];

  constructor(
    private readonly configuration: FolderSettings,
    private readonly changed: () => void,
  ) {
    this.registrations = [configuration.onDidChange(() => this.watch()), afterActivation(() => this.watch())];
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.registrations, ...this.watchers).dispose();
  }

  private watch(): void {
    const { dataFolder, modelFolders } = this.configuration;
    const folders = modelFolders.flatMap((folder) => this.configuration.resolve(folder) ?? []);
    const wanted = JSON.stringify([dataFolder, folders]);
    if (wanted === this.watched) return;
    this.watched = wanted;
    vscode.Disposable.from(...this.watchers).dispose();
    this.watchers = [
      ...(dataFolder === undefined
        ? []
        : [this.watcher(dataFolder, TRAINED), this.watcher(dataFolder, ON_THE_WAY, { changes: false })]),
      ...folders.map((folder) => this.watcher(folder, '**')),
    ];
  }

  private watcher(folder: string, glob: string, { changes = true } = {}): vscode.Disposable {
    const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), glob);
    const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, !changes);
    const soon = (): void => this.soon();
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(soon),
      watcher.onDidChange(soon),
      watcher.onDidDelete(soon),
    );
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.changed, QUIET_MS);
  }
}
