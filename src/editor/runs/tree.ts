import * as vscode from 'vscode';
import type { Run } from '../../core/training/runs';
import { contextKeys, views } from '../contributions';
import { eachMinute } from '../eachMinute';
import type { ShownLog } from '../shownLog';
import { itemOf } from './items';
import type { RunQueue } from './queue';
import { RunResults } from './results';
import type { RunWatch } from './watch';
import { isAtWork, runName, standingWords } from './words';

const { t } = vscode.l10n;

export interface RunNode {
  readonly kind: 'run';
  readonly run: Run;
}

/** The runs of the log that is shown, the newest first. */
export class RunTree implements vscode.TreeDataProvider<RunNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<RunNode>;
  private readonly results = new RunResults();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly watch: RunWatch,
    private readonly queue: RunQueue,
    private readonly log: ShownLog,
  ) {
    this.view = vscode.window.createTreeView(views.runs, { treeDataProvider: this, canSelectMany: true });
    this.disposables = [
      this.changed,
      this.view,
      watch.onDidChange(() => this.show()),
      queue.onDidChange(() => this.show()),
      log.onDidChange(() => this.show()),
      watch.onDidLook(() => void this.readResults()),
      eachMinute(this.view, () => void watch.look().then(() => this.show())),
    ];
  }

  get selection(): readonly RunNode[] {
    return this.view.selection;
  }

  async getChildren(node?: RunNode): Promise<RunNode[]> {
    if (node !== undefined) return [];
    // The first time nobody has looked yet.
    if (this.watch.all.length === 0) await this.watch.look();
    void vscode.commands.executeCommand('setContext', contextKeys.runsAreRead, true);
    await this.results.read(this.watch.all);
    return this.watch.all.map((run) => ({ kind: 'run', run }));
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    return itemOf(node, this.queue.halted, this.results.of(node.run));
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async readResults(): Promise<void> {
    if (this.view.visible && (await this.results.read(this.watch.all))) this.show();
  }

  /** Behind the view's title, also when it is folded: what is at work. Above the rows: why none of them begins. */
  private show(): void {
    const { halted } = this.queue;
    this.view.message = halted === undefined ? undefined : t('The queue is halted: {0}', halted);
    void vscode.commands.executeCommand('setContext', contextKeys.queueIsHalted, halted !== undefined);
    const [first, ...others] = this.watch.live.filter(isAtWork);
    const live =
      first === undefined
        ? []
        : [
            `${runName(first, t)} ${standingWords(first, Date.now(), t)}`,
            ...(others.length === 0 ? [] : [t('{0} more', others.length)]),
          ];
    this.view.description = [...(this.log.name === undefined ? [] : [this.log.name]), ...live].join(' · ');
    this.changed.fire(undefined);
  }
}
