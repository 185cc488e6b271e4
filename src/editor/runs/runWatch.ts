import path from 'node:path';
import * as vscode from 'vscode';
import { type Run, Runs } from '../../core/training/runs';
import { isThere } from '../../core/trajectory/files';
import { contextKeys } from '../contributions';
import type { Engines } from '../engines';
import { OneAtATime, watch } from '../background';
import { isAtWork } from '../run/words';

export interface LogLook {
  readonly runs: Runs;
  /** Newest first. */
  readonly all: readonly Run[];
}

interface Events {
  readonly looked: vscode.EventEmitter<LogLook>;
  readonly changed: vscode.EventEmitter<void>;
  readonly ended: vscode.EventEmitter<Run>;
  readonly report: (error: unknown) => void;
}

export class RunWatch implements vscode.Disposable {
  private readonly looked = new vscode.EventEmitter<LogLook>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<Run>();
  private readonly lookingForAny = new OneAtATime(() => this.lookForAny().catch(this.report));
  private readonly disposables: { dispose(): unknown }[];
  /** By data folder. */
  private readonly logs = new Map<string, LogWatch>();

  /** Fires after each look at a log, even without news. */
  readonly onDidLook = this.looked.event;
  /** Whether there is a run or a lesson, also where none may be read; undefined until the first look. */
  hasAny: boolean | undefined;
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
      this.onDidLook(() => void this.lookingForAny.do()),
      engines.shown.onDidChange(() => {
        this.follow();
        this.changed.fire();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.follow()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('tandem.dataFolder')) this.follow();
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) void this.look();
      }),
    ];
    this.follow();
  }

  /** Undefined in a window without a folder, and in a workspace that is not trusted. */
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

  /** A run whose trainer works, in the shown log if there is one. */
  get atWork(): Run | undefined {
    return [...this.all, ...this.everywhere.all].find(isAtWork);
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

  /** Only names are read, which a workspace that is not trusted may have chosen. */
  private async lookForAny(): Promise<void> {
    const folders = this.engines.logs.map(({ engine }) => engine.dataFolder).filter((one) => one !== '');
    const any =
      this.everywhere.all.length > 0 || (await Promise.all(folders.map(hasRunOrLesson))).includes(true);
    if (any === this.hasAny) return;
    this.hasAny = any;
    void vscode.commands.executeCommand('setContext', contextKeys.hasRuns, any);
    this.changed.fire();
  }

  private get shown(): LogWatch | undefined {
    return this.logs.get(this.engines.shown.engine.dataFolder);
  }

  /** A workspace that is not trusted may have brought its run folders, so none is read. */
  private follow(): void {
    const logs = vscode.workspace.isTrusted ? this.engines.logs : [];
    const folders = new Set(logs.map(({ engine }) => engine.dataFolder).filter((one) => one !== ''));
    const gone = [...this.logs].filter(([folder]) => !folders.has(folder));
    for (const [folder, log] of gone) {
      log.dispose();
      this.logs.delete(folder);
    }
    for (const folder of folders) {
      if (this.logs.has(folder)) continue;
      const { looked, changed, ended, report } = this;
      this.logs.set(folder, new LogWatch(folder, { looked, changed, ended, report }));
    }
    // Listeners must drop the runs of a removed log.
    if (gone.length > 0) this.changed.fire();
    void this.lookingForAny.do();
  }
}

const hasRunOrLesson = async (dataFolder: string): Promise<boolean> =>
  (await new Runs(dataFolder).ids()).length > 0 || (await isThere(path.join(dataFolder, 'teaching')));

const POLL_INTERVAL_MS = 1000;
/** Milliseconds without a change before a look: files come one after the other. */
const QUIET_MS = 200;

/** Files that change when a run appears, starts, stops, is evaluated, renamed or deleted. */
const TELLING = 'runs/*/{run.json,queued.json,launch.json,process.json,stop,notes.json,evaluations/*.json}';
const ON_THE_WAY = '{runs,runs/*,teaching,curves}';

/** The runs of one log. Only folders of live or queued runs are polled. */
class LogWatch implements vscode.Disposable {
  readonly runs: Runs;
  /** Newest first. */
  all: readonly Run[] = [];
  private watchers: readonly vscode.Disposable[] = [];
  private readonly looking = new OneAtATime(() => this.lookOnce());
  private everything = true;
  private timer: NodeJS.Timeout | undefined;
  private isDisposed = false;

  constructor(
    private readonly dataFolder: string,
    private readonly on: Events,
  ) {
    this.runs = new Runs(dataFolder);
    // Later, to keep activation short.
    setImmediate(() => this.begin());
  }

  /** Resolves when the present state has been seen. */
  async look(): Promise<void> {
    this.everything = true;
    await this.looking.do();
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.watchers).dispose();
  }

  private begin(): void {
    if (this.isDisposed) return;
    const soon = (): void => this.lookIn(QUIET_MS, true);
    this.watchers = [
      watch(this.dataFolder, TELLING, soon),
      watch(this.dataFolder, 'curves/*.json', soon),
      watch(this.dataFolder, ON_THE_WAY, soon, { changes: false }),
    ];
    void this.look();
  }

  private lookIn(milliseconds: number, everything: boolean): void {
    if (this.isDisposed) return;
    this.everything ||= everything;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.looking.do(), milliseconds);
  }

  private async lookOnce(): Promise<void> {
    if (this.isDisposed) return;
    await this.readRuns().catch(this.on.report);
    if (this.all.some(mayMove)) this.lookIn(POLL_INTERVAL_MS, false);
  }

  /** Reads the runs that may change and new ones, or all. */
  private async readRuns(): Promise<void> {
    const { runs, everything } = this;
    this.everything = false;
    const before = new Map(this.all.map((run) => [run.id, run]));
    const ids = await runs.ids();
    const read = await Promise.all(
      ids.map(async (id) => {
        const known = before.get(id);
        return known !== undefined && !mayMove(known) && !everything ? known : runs.read(id);
      }),
    );
    if (this.isDisposed) return;
    const all = read.filter((run) => run !== undefined);
    const isOther = JSON.stringify(all) !== JSON.stringify(this.all);
    this.all = all;
    this.on.looked.fire({ runs, all });
    if (isOther) this.on.changed.fire();
    for (const run of all) if (before.get(run.id)?.isLive === true && !run.isLive) this.on.ended.fire(run);
  }
}

/** True if another process may change it. */
const mayMove = ({ isLive, state }: Run): boolean => isLive || state === 'queued';
