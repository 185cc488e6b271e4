import * as vscode from 'vscode';
import type { Run, Runs } from '../../core/training/runs';
import type { Engines } from '../engines';
import { LogWatch } from './logWatch';

/** Result of a look at one log. */
export interface LogLook {
  readonly runs: Runs;
  /** Runs of the log, newest first. */
  readonly all: readonly Run[];
}

/** The runs of every log of the window, of which the views show one. */
export class RunWatch implements vscode.Disposable {
  private readonly looked = new vscode.EventEmitter<LogLook>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<Run>();
  private readonly disposables: { dispose(): unknown }[];
  /** Watches by data folder. */
  private readonly logs = new Map<string, LogWatch>();

  /** Fires after each look at a log, whether anything is new or not. */
  readonly onDidLook = this.looked.event;
  /** Fires when a run of any log is new, gone, or in another state; or when another log is shown. */
  readonly onDidChange = this.changed.event;
  /** Fires when a run of any log that was live at the last look is over. */
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

  /** The runs folder of the shown log; undefined in a window without a folder. */
  get runs(): Runs | undefined {
    return this.shown?.runs;
  }

  /** The runs of the shown log as last seen, newest first. */
  get all(): readonly Run[] {
    return this.shown?.all ?? [];
  }

  /** The runs of the shown log that a trainer works on. */
  get live(): readonly Run[] {
    return this.all.filter(({ isLive }) => isLive);
  }

  /**
   * Returns the runs of the log that a run is in, which need not be the shown one; the run alone when no watch has it.
   */
  around(run: Run): readonly Run[] {
    const log = [...this.logs.values()].find(({ all }) => all.some(({ folder }) => folder === run.folder));
    return log?.all ?? [run];
  }

  /** The runs of every log. */
  get everywhere(): { readonly logs: readonly Runs[]; readonly all: readonly Run[] } {
    const watches = [...this.logs.values()];
    return { logs: watches.map(({ runs }) => runs), all: watches.flatMap(({ all }) => all) };
  }

  /** Looks at all runs. Resolves when their present state has been seen. */
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
    // Nobody looks at their runs any more, so the listeners must drop them.
    if (gone.length > 0) this.changed.fire();
  }
}
