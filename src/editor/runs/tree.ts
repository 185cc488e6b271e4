import * as vscode from 'vscode';
import { contextKeys, views } from '../contributions';
import type { ShownLog } from '../shownLog';
import { Tree } from '../tree';
import { itemOf, type RunNode } from './items';
import type { RunQueue } from './queue';
import { RunResults } from '../../core/evaluation/comparison/latestResults';
import type { RunWatch } from './runWatch';
import { isAtWork, runName, runStatus } from './words';

const { t } = vscode.l10n;

/** Newest first. */
export class RunTree extends Tree<RunNode> {
  private readonly results = new RunResults();

  constructor(
    private readonly watch: RunWatch,
    private readonly queue: RunQueue,
    private readonly log: ShownLog,
  ) {
    super(views.runs, { canSelectMany: true });
    this.owns(
      watch.onDidChange(() => this.show()),
      queue.onDidChange(() => this.show()),
      log.onDidChange(() => this.show()),
      watch.onDidLook(() => void this.readResults()),
    );
    this.eachMinute(() => void watch.look().then(() => this.show()));
  }

  protected async children(node?: RunNode): Promise<RunNode[]> {
    if (node !== undefined) return [];
    // No look has finished yet.
    if (this.watch.all.length === 0) await this.watch.look();
    void vscode.commands.executeCommand('setContext', contextKeys.runsAreRead, true);
    await this.results.read(this.watch.all);
    return this.watch.all.map((run) => ({ kind: 'run', run }));
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    return itemOf(node, this.queue.halted, this.results.of(node.run));
  }

  private async readResults(): Promise<void> {
    if (this.view.visible && (await this.results.read(this.watch.all))) this.show();
  }

  /** The run at work stays visible while the view is folded. */
  private show(): void {
    const { halted } = this.queue;
    this.view.message = halted === undefined ? undefined : t('The queue is halted: {0}', halted);
    void vscode.commands.executeCommand('setContext', contextKeys.queueIsHalted, halted !== undefined);
    const [first, ...others] = this.watch.live.filter(isAtWork);
    const live =
      first === undefined
        ? []
        : [
            `${runName(first, t)} ${runStatus(first, Date.now(), t)}`,
            ...(others.length === 0 ? [] : [t('{0} more', others.length)]),
          ];
    this.view.description = [...(this.log.name === undefined ? [] : [this.log.name]), ...live].join(' · ');
    this.redraw();
  }
}
