import * as vscode from 'vscode';
import { Runs, type Run } from '../../core/training/runs';

/** How often live runs are looked at, in milliseconds. */
const LOOK_EVERY_MS = 1000;
/** Files come one after the other. */
const QUIET_MS = 200;

/** What is made or changed when a run appears, is started, is asked to stop, is evaluated, or goes. */
const TELLING = 'runs/*/{run.json,queued.json,launch.json,process.json,stop,evaluations/*.json}';
const ON_THE_WAY = '{runs,runs/*}';

/**
 * The runs of one log, as their folders tell them. Whoever works on them, in this window, in another or in a terminal,
 * everybody sees the same. While a run is live, or waits for its turn, its folder is looked at every second; otherwise
 * nothing is.
 */
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

  /** They were looked at, whether anything is new or not. */
  readonly onDidLook = this.looked.event;
  /** A run is new, gone, or stands otherwise. */
  readonly onDidChange = this.changed.event;
  /** A run that was live when it was last looked at is over. */
  readonly onDidEnd = this.ended.event;

  constructor(
    private readonly dataFolder: string,
    private readonly report: (error: unknown) => void,
  ) {
    // Nobody waits for it at activation.
    setImmediate(() => this.begin());
  }

  get runs(): Runs {
    return new Runs(this.dataFolder);
  }

  /** From the newest to the oldest, as they stood when they were last looked at. */
  get all(): readonly Run[] {
    return this.seen;
  }

  /** Looks at all runs. Resolves when what is there now has been seen. */
  async look(): Promise<void> {
    this.everything = true;
    // One that has begun may have passed what is meant.
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
      if (this.seen.some(mayMove)) this.lookIn(LOOK_EVERY_MS, false);
    }
  }

  /** Whether somebody has asked for another look meanwhile. */
  private takeRequest(): boolean {
    const isAsked = this.isAskedAgain && !this.isDisposed;
    this.isAskedAgain = false;
    return isAsked;
  }

  /** All runs, or those that may move and those that are new: what is over stays as it is. */
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

/** Without anybody doing anything to it. */
const mayMove = ({ isLive, state }: Run): boolean => isLive || state === 'queued';
