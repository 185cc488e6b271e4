import * as vscode from 'vscode';
import { Fault } from '../core/fault';
import type { TrajectoryLog } from '../core/trajectory/log';

/** Milliseconds from the last reported change of a log until what other processes appended is read. */
const FOLLOW_AFTER_MS = 300;
/** Milliseconds between looks at a log without a reported change, while the window has the focus. */
const POLL_INTERVAL_MS = 5000;
/** One look in so many is done without the focus too: the window may be in sight, beside another one. */
const UNFOCUSED_POLL_FACTOR = 6;

export const noTrajectory = (episode: string): Fault =>
  new Fault(
    'editor/no-trajectory',
    vscode.l10n.t('The log has no dialogue {0}; it may have been deleted.', episode),
  );

/** Undefined if the log was closed meanwhile, because its folder left the window: the view then shows another log. */
export async function unlessClosed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault && error.code === 'trajectory/closed') return undefined;
    throw error;
  }
}

interface Opened {
  readonly log: Promise<TrajectoryLog>;
  follower?: vscode.Disposable;
}

/** The open trajectory logs, one for each data folder, also where several folders of the workspace share it. */
export class Logs implements vscode.Disposable {
  private readonly opened = new Map<string, Opened>();
  private readonly changed = new vscode.EventEmitter<{
    readonly folder: string;
    /** Ids of the dialogues that changed; no ids mean that any may have changed. */
    readonly episodes: readonly string[];
  }>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly output: vscode.LogOutputChannel,
    private readonly report: (error: unknown) => void,
  ) {}

  open(folder: string): Promise<TrajectoryLog> {
    const known = this.opened.get(folder);
    if (known !== undefined) return known.log;
    const opened: Opened = { log: this.openLog(folder, (follower) => (opened.follower = follower)) };
    this.opened.set(folder, opened);
    opened.log.catch(() => this.opened.delete(folder));
    return opened.log;
  }

  async keep(folders: readonly string[]): Promise<void> {
    const others = [...this.opened].filter(([folder]) => !folders.includes(folder));
    await Promise.all(
      others.map(async ([folder, { log, follower }]) => {
        this.opened.delete(folder);
        follower?.dispose();
        try {
          await (await log).close();
        } catch (error) {
          this.report(error);
        }
      }),
    );
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async openLog(
    folder: string,
    followed: (follower: vscode.Disposable) => void,
  ): Promise<TrajectoryLog> {
    const { TrajectoryLog } = await import('../core/trajectory/log');
    const log = await TrajectoryLog.open(folder);
    log.onDidChange((episodes) => this.changed.fire({ folder, episodes }));
    for (const note of log.notes) this.output.info(note);
    for (const { file, line, reason } of log.problems) this.output.warn(`${file}, line ${line}: ${reason}`);
    followed(this.follow(folder, log));
    return log;
  }

  /**
   * Reads what other processes append. The file system may not report changes in a folder that was just made, and a
   * network drive reports none of other machines, so the log is also read now and then.
   */
  private follow(folder: string, log: TrajectoryLog): vscode.Disposable {
    let reading = 0;
    const read = (): void => {
      reading += 1;
      void log
        .refresh()
        .catch((error: unknown) => this.report(error))
        .finally(() => (reading -= 1));
    };
    let timer: NodeJS.Timeout | undefined;
    const readSoon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(read, FOLLOW_AFTER_MS);
    };
    const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), 'log/**');
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    watcher.onDidChange(readSoon);
    watcher.onDidCreate(readSoon);
    let looks = 0;
    const looking = setInterval(() => {
      looks += 1;
      if (reading > 0) return; // a slow drive takes longer
      if (vscode.window.state.focused || looks % UNFOCUSED_POLL_FACTOR === 0) read();
    }, POLL_INTERVAL_MS);
    const focus = vscode.window.onDidChangeWindowState(({ focused }) => focused && read());
    return new vscode.Disposable(() => {
      clearTimeout(timer);
      clearInterval(looking);
      vscode.Disposable.from(watcher, focus).dispose();
    });
  }
}
