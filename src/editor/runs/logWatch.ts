import * as vscode from 'vscode';
import { Runs, type Run } from '../../core/training/runs';

const POLL_INTERVAL_MS = 1000;
/** Milliseconds without a change before a look: files come one after the other. */
const QUIET_MS = 200;

/** Files that change when a run appears, starts, stops, is evaluated, renamed or deleted. */
const TELLING = 'runs/*/{run.json,queued.json,launch.json,process.json,stop,notes.json,evaluations/*.json}';
const ON_THE_WAY = '{runs,runs/*}';

/** The runs of one log. Only folders of live or queued runs are polled. */
export class LogWatch implements vscode.Disposable {
  private readonly looked = new vscode.EventEmitter<void>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<Run>();
  private watchers: readonly vscode.Disposable[] = [];
  private seen: readonly Run[] = [];
  private looking: Promise<void> | undefined;
  private isAskedAgain = false;
  private everything = true;
  private timer: NodeJS.Timeout | undefined;
  private isDisposed = false;

  /** Fires after each look, even without news. */
  readonly onDidLook = this.looked.event;
  /** Fires when a run is new, gone, or in another state. */
  readonly onDidChange = this.changed.event;
  /** Fires when a live run has ended. */
  readonly onDidEnd = this.ended.event;

  constructor(
    private readonly dataFolder: string,
    private readonly report: (error: unknown) => void,
  ) {
    // Later, to keep activation short.
    setImmediate(() => this.begin());
  }

  get runs(): Runs {
    return new Runs(this.dataFolder);
  }

  /** Newest first. */
  get all(): readonly Run[] {
    return this.seen;
  }

  /** Resolves when the present state has been seen. */
  async look(): Promise<void> {
    this.everything = true;
    // A look under way may have missed the change.
    if (this.looking !== undefined) this.isAskedAgain = true;
    this.looking ??= this.lookUntilCalm();
    await this.looking;
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
    vscode.Disposable.from(this.looked, this.changed, this.ended, ...this.watchers).dispose();
  }

  private begin(): void {
    if (this.isDisposed) return;
    this.watchers = [TELLING, ON_THE_WAY].map((glob) => this.watcher(this.dataFolder, glob));
    void this.look();
  }

  private watcher(folder: string, glob: string): vscode.Disposable {
    const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), glob);
    // A folder changes with every file in it.
    const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, glob === ON_THE_WAY);
    const soon = (): void => this.lookIn(QUIET_MS, true);
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(soon),
      watcher.onDidChange(soon),
      watcher.onDidDelete(soon),
    );
  }

  private lookIn(milliseconds: number, everything: boolean): void {
    if (this.isDisposed) return;
    this.everything ||= everything;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.looking !== undefined) this.isAskedAgain = true;
      this.looking ??= this.lookUntilCalm();
    }, milliseconds);
  }

  private async lookUntilCalm(): Promise<void> {
    try {
      do await this.lookOnce();
      while (this.takeRequest());
    } catch (error) {
      this.report(error);
    } finally {
      this.looking = undefined;
      if (this.seen.some(mayMove)) this.lookIn(POLL_INTERVAL_MS, false);
    }
  }

  private takeRequest(): boolean {
    const isAsked = this.isAskedAgain && !this.isDisposed;
    this.isAskedAgain = false;
    return isAsked;
  }

  /** Reads the runs that may change and new ones, or all. */
  private async lookOnce(): Promise<void> {
    const { runs, everything } = this;
    this.everything = false;
    const before = new Map(this.seen.map((run) => [run.id, run]));
    const ids = await runs.ids();
    const read = await Promise.all(
      ids.map(async (id) => {
        const known = before.get(id);
        return known !== undefined && !mayMove(known) && !everything ? known : runs.read(id);
      }),
    );
    if (this.isDisposed) return;
    const all = read.filter((run) => run !== undefined);
    const isOther = JSON.stringify(all) !== JSON.stringify(this.seen);
    this.seen = all;
    this.looked.fire();
    if (isOther) this.changed.fire();
    for (const run of all) if (before.get(run.id)?.isLive === true && !run.isLive) this.ended.fire(run);
  }
}

/** True if another process may change it. */
const mayMove = ({ isLive, state }: Run): boolean => isLive || state === 'queued';
