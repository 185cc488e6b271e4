import * as vscode from 'vscode';
import { Runs, type Run } from '../../core/training/runs';

/** Milliseconds between looks at live runs. */
const POLL_INTERVAL_MS = 1000;
/** Milliseconds without a change before a look, because files come one after the other. */
const QUIET_MS = 200;

/**
 * Files that are made or changed when a run appears, is started, is asked to stop, is evaluated, gets another name, or
 * goes.
 */
const TELLING = 'runs/*/{run.json,queued.json,launch.json,process.json,stop,notes.json,evaluations/*.json}';
const ON_THE_WAY = '{runs,runs/*}';

/**
 * The runs of one log, read from their folders. Every window sees the same, whether a run is worked on in this window,
 * in another or in a terminal. The folder of a live or queued run is read every second; others are not polled.
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

  /** Fires after each look, whether anything is new or not. */
  readonly onDidLook = this.looked.event;
  /** Fires when a run is new, gone, or in another state. */
  readonly onDidChange = this.changed.event;
  /** Fires when a run that was live at the last look is over. */
  readonly onDidEnd = this.ended.event;

  constructor(
    private readonly dataFolder: string,
    private readonly report: (error: unknown) => void,
  ) {
    // It begins later, because nobody waits for it at activation.
    setImmediate(() => this.begin());
  }

  get runs(): Runs {
    return new Runs(this.dataFolder);
  }

  /** The runs as last seen, newest first. */
  get all(): readonly Run[] {
    return this.seen;
  }

  /** Looks at all runs. Resolves when their present state has been seen. */
  async look(): Promise<void> {
    this.everything = true;
    // A look that is under way may have passed the change already.
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
    // Changes of these folders are ignored, because a folder changes with every file in it.
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

  /** Returns whether somebody has asked for another look meanwhile. */
  private takeRequest(): boolean {
    const isAsked = this.isAskedAgain && !this.isDisposed;
    this.isAskedAgain = false;
    return isAsked;
  }

  /** Reads all runs, or only those that may change and new ones: a run that is over stays as it is. */
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

/** Returns whether a run may change without anybody doing anything to it. */
const mayMove = ({ isLive, state }: Run): boolean => isLive || state === 'queued';
