import * as vscode from 'vscode';
import { Runs, type Run } from '../../core/training/runs';
import type { ShownLog } from '../shownLog';

/** How often live runs are looked at, in milliseconds. */
const LOOK_EVERY_MS = 1000;
/** Files come one after the other. */
const QUIET_MS = 200;

/** What is made or changed when a run appears, is started, is asked to stop, or goes. */
const TELLING = 'runs/*/{run.json,queued.json,launch.json,process.json,stop}';
const ON_THE_WAY = '{runs,runs/*}';

/**
 * The runs of the log that is shown, as their folders tell them. Whoever works on them, in this window, in another or in
 * a terminal, everybody sees the same. While a run is live, or waits for its turn, its folder is looked at every second;
 * otherwise nothing is.
 */
export class RunWatch implements vscode.Disposable {
  private readonly looked = new vscode.EventEmitter<void>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<Run>();
  private readonly disposables: { dispose(): unknown }[];
  private folder: string | undefined;
  private watchers: vscode.Disposable[] = [];
  private shown: readonly Run[] = [];
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
    private readonly log: ShownLog,
    private readonly report: (error: unknown) => void,
  ) {
    this.disposables = [
      this.looked,
      this.changed,
      this.ended,
      log.onDidChange(() => this.follow()),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) void this.look();
      }),
    ];
    this.follow();
  }

  /** Of the data folder that is shown; undefined in a window without a folder. */
  get runs(): Runs | undefined {
    return this.folder === undefined ? undefined : new Runs(this.folder);
  }

  /** From the newest to the oldest, as they stood when they were last looked at. */
  get all(): readonly Run[] {
    return this.shown;
  }

  get live(): readonly Run[] {
    return this.shown.filter(({ isLive }) => isLive);
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
    vscode.Disposable.from(...this.disposables, ...this.watchers).dispose();
  }

  private follow(): void {
    const { dataFolder } = this.log.engine.configuration;
    if (dataFolder === this.folder && this.watchers.length > 0) return;
    this.folder = dataFolder;
    this.shown = [];
    vscode.Disposable.from(...this.watchers).dispose();
    this.watchers =
      dataFolder === undefined ? [] : [TELLING, ON_THE_WAY].map((glob) => this.watcher(dataFolder, glob));
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
      if (this.shown.some(mayMove)) this.lookIn(LOOK_EVERY_MS, false);
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
    const before = new Map(this.shown.map((run) => [run.id, run]));
    const ids = (await runs?.ids()) ?? [];
    const seen = await Promise.all(
      ids.map(async (id) => {
        const known = before.get(id);
        return known !== undefined && !mayMove(known) && !everything ? known : runs?.read(id);
      }),
    );
    if (runs?.dataFolder !== this.runs?.dataFolder || this.isDisposed) return;
    const all = seen.filter((run) => run !== undefined);
    const isOther = JSON.stringify(all) !== JSON.stringify(this.shown);
    this.shown = all;
    this.looked.fire();
    if (isOther) this.changed.fire();
    for (const run of all) if (before.get(run.id)?.isLive === true && !run.isLive) this.ended.fire(run);
  }
}

/** Without anybody doing anything to it. */
const mayMove = ({ isLive, state }: Run): boolean => isLive || state === 'queued';
