import * as vscode from 'vscode';
import { afterActivation } from './afterActivation';
import { contextKeys } from './contributions';
import type { Engine } from './engine';
import type { Engines } from './engines';

/** The folder of the workspace whose log was chosen, by its address. */
const KEY = 'tandem.shownLog';

/** A log of the window: of one folder of the workspace, or of several that write into the same data folder. */
export interface FolderLog {
  /** Of the first of these folders. */
  readonly engine: Engine;
  /** Of these folders; empty in a window without one. */
  readonly name: string;
}

/** The log that the views show and that commands on the log act on. The person chooses it where there are several. */
export class ShownLog implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly dialoguesChanged = new vscode.EventEmitter<readonly string[]>();
  private readonly disposables: { dispose(): unknown }[];
  private last: string;

  /** Another log is shown, or it is called otherwise. */
  readonly onDidChange = this.changed.event;
  /** The ids of the dialogues that changed in the log that is shown; none: any may have, or it is another log. */
  readonly onDidChangeDialogues = this.dialoguesChanged.event;

  constructor(
    private readonly engines: Pick<Engines, 'logs' | 'onDidChangeLog'>,
    private readonly memory: vscode.Memento,
  ) {
    this.last = this.mark;
    this.disposables = [
      this.changed,
      this.dialoguesChanged,
      // It may be otherwise in a window that had another first folder.
      afterActivation(() => this.setContext()),
      engines.onDidChangeLog(({ engine, episodes }) => {
        if (engine === this.engine) this.dialoguesChanged.fire(episodes);
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('tandem.dataFolder')) this.follow();
      }),
    ];
  }

  get engine(): Engine {
    return this.shown.engine;
  }

  /** What it is called; undefined where it is the only one. */
  get name(): string | undefined {
    return this.engines.logs.length > 1 ? this.shown.name : undefined;
  }

  async show({ engine }: FolderLog): Promise<void> {
    await this.memory.update(KEY, addressOf(engine));
    this.follow();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** The first one while none was chosen, and when the chosen one's folder is gone. */
  private get shown(): FolderLog {
    const { logs } = this.engines;
    const chosen = this.memory.get<string>(KEY);
    return logs.find(({ engine }) => addressOf(engine) === chosen) ?? logs[0]!;
  }

  private get mark(): string {
    return JSON.stringify([this.engine.dataFolder, this.name]);
  }

  private follow(): void {
    this.setContext();
    const { mark } = this;
    if (mark === this.last) return;
    this.last = mark;
    this.changed.fire();
    this.dialoguesChanged.fire([]);
  }

  private setContext(): void {
    const hasSeveral = this.engines.logs.length > 1;
    void vscode.commands.executeCommand('setContext', contextKeys.hasSeveralLogs, hasSeveral);
  }
}

const addressOf = ({ configuration }: Engine): string | undefined => configuration.folder?.uri.toString();
