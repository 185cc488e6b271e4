import * as vscode from 'vscode';
import type { Run, Runs } from '../../core/training/runs';
import type { Engines } from '../engines';
import { LogWatch } from './logWatch';

/** What was seen in a log. */
export interface Look {
  readonly runs: Runs;
  /** From the newest to the oldest. */
  readonly all: readonly Run[];
}

/** The runs of every log of the window, of which the views show one. */
export class RunWatch implements vscode.Disposable {
  private readonly looked = new vscode.EventEmitter<Look>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<Run>();
  private readonly disposables: { dispose(): unknown }[];
  /** By their data folders. */
  private readonly logs = new Map<string, LogWatch>();

  /** Those of a log were looked at, whether anything is new or not. */
  readonly onDidLook = this.looked.event;
  /** A run of any log is new, gone, or stands otherwise; or another log is shown. */
  readonly onDidChange = this.changed.event;
  /** A run of any log that was live when it was last looked at is over. */
  readonly onDidEnd = this.ended.event;

  constructor(
    private readonly engines: Pick<Engines, 'logs' | 'shown'>,
    private readonly report: (error: unknown) => void,
  ) {
    this.disposables = [
      this.looked,
      this.changed,
      this.ended,
      engines.shown.onDidChange(() => {
        this.follow();
        this.changed.fire();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('tandem.dataFolder')) this.follow();
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) void this.look();
      }),
    ];
    this.follow();
  }

  /** Of the log that is shown; undefined in a window without a folder. */
  get runs(): Runs | undefined {
    return this.shown?.runs;
  }

  /** Of the log that is shown, from the newest to the oldest, as they stood when they were last looked at. */
  get all(): readonly Run[] {
    return this.shown?.all ?? [];
  }

  /** Of the log that is shown, those that a trainer works on. */
  get live(): readonly Run[] {
    return this.all.filter(({ isLive }) => isLive);
  }

  /** Of the log that a run is in, which need not be the one that is shown; with nothing but the run when nobody looks at it. */
  around(run: Run): readonly Run[] {
    const log = [...this.logs.values()].find(({ all }) => all.some(({ folder }) => folder === run.folder));
    return log?.all ?? [run];
  }

  /** Of every log. */
  get everywhere(): { readonly logs: readonly Runs[]; readonly all: readonly Run[] } {
    const watches = [...this.logs.values()];
    return { logs: watches.map(({ runs }) => runs), all: watches.flatMap(({ all }) => all) };
  }

  /** Looks at all runs. Resolves when what is there now has been seen. */
  async look(): Promise<void> {
    await Promise.all([...this.logs.values()].map((log) => log.look()));
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables, ...this.logs.values()).dispose();
  }

  private get shown(): LogWatch | undefined {
    return this.logs.get(this.engines.shown.engine.dataFolder);
  }

  private follow(): void {
    const folders = new Set(
      this.engines.logs.map(({ engine }) => engine.dataFolder).filter((one) => one !== ''),
    );
    const gone = [...this.logs].filter(([folder]) => !folders.has(folder));
    for (const [folder, log] of gone) {
      log.dispose();
      this.logs.delete(folder);
    }
    for (const folder of folders) {
      if (this.logs.has(folder)) continue;
      const log = new LogWatch(folder, this.report);
      log.onDidLook(() => this.looked.fire({ runs: log.runs, all: log.all }));
      log.onDidChange(() => this.changed.fire());
      log.onDidEnd((run) => this.ended.fire(run));
      this.logs.set(folder, log);
    }
    // Their runs would be told of on and on: nobody looks at them any more.
    if (gone.length > 0) this.changed.fire();
  }
}
