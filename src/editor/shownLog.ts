import * as vscode from 'vscode';
import { afterActivation } from './afterActivation';
import { contextKeys } from './contributions';
import type { Engine } from './engine';

/** Key of the address of the chosen log's workspace folder. */
const KEY = 'tandem.shownLog';

/** A log of the window: of one folder of the workspace, or of several that write into the same data folder. */
export interface FolderLog {
  /** Engine of the first of these folders. */
  readonly engine: Engine;
  /** Names of these folders; empty in a window without one. */
  readonly name: string;
}

interface WindowLogs {
  readonly logs: readonly FolderLog[];
  readonly onDidChangeLog: vscode.Event<{ readonly engine: Engine; readonly episodes: readonly string[] }>;
}

/** The log that the views show and that commands on the log act on. The person chooses it where there are several. */
export class ShownLog implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly dialoguesChanged = new vscode.EventEmitter<readonly string[]>();
  private readonly disposables: { dispose(): unknown }[];
  private last: string;

  /** Fires when another log is shown, or the log has another name. */
  readonly onDidChange = this.changed.event;
  /** Fires with the ids of dialogues that changed; no ids: any may have changed, or another log is shown. */
  readonly onDidChangeDialogues = this.dialoguesChanged.event;

  constructor(
    private readonly engines: WindowLogs,
    private readonly memory: vscode.Memento,
  ) {
    this.last = this.mark;
    this.disposables = [
      this.changed,
      this.dialoguesChanged,
      // The context may be outdated in a window that had another first folder.
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

  /** Name of the log; undefined where it is the only one. */
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

  /** The chosen log; the first one while none was chosen, and when the chosen one's folder is gone. */
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
