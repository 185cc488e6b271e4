import * as vscode from 'vscode';
import type { Run, Runs } from '../../core/training/runs';
import type { Engines } from '../engines';
import { LogWatch } from './logWatch';

export interface LogLook {
  readonly runs: Runs;
  /** Newest first. */
  readonly all: readonly Run[];
}

export class RunWatch implements vscode.Disposable {
  private readonly looked = new vscode.EventEmitter<LogLook>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<Run>();
  private readonly disposables: { dispose(): unknown }[];
  /** By data folder. */
  private readonly logs = new Map<string, LogWatch>();

  /** Fires after each look at a log, even without news. */
  readonly onDidLook = this.looked.event;
  /** Fires when a run is new, gone, or in another state; or when another log is shown. */
  readonly onDidChange = this.changed.event;
  /** Fires when a live run has ended. */
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

  /** Undefined in a window without a folder. */
  get runs(): Runs | undefined {
    return this.shown?.runs;
  }

  /** Runs of the shown log, newest first. */
  get all(): readonly Run[] {
    return this.shown?.all ?? [];
  }

  get live(): readonly Run[] {
    return this.all.filter(({ isLive }) => isLive);
  }

  /** Runs of the same log, which need not be the shown one; the run alone when no watch has it. */
  around(run: Run): readonly Run[] {
    const log = [...this.logs.values()].find(({ all }) => all.some(({ folder }) => folder === run.folder));
    return log?.all ?? [run];
  }

  get everywhere(): { readonly logs: readonly Runs[]; readonly all: readonly Run[] } {
    const watches = [...this.logs.values()];
    return { logs: watches.map(({ runs }) => runs), all: watches.flatMap(({ all }) => all) };
  }

  /** Resolves when the present state has been seen. */
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
    // Listeners must drop the runs of a removed log.
    if (gone.length > 0) this.changed.fire();
  }
}
