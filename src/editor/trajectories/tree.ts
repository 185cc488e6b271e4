import * as vscode from 'vscode';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { commands, contextValues } from '../contributions';
import type { Engine } from '../engine';
import type { Packs } from '../tasks/packs';
import { ago, outcomeWords } from './words';

export type TrajectoryNode =
  | { readonly kind: 'trajectory'; readonly summary: TrajectorySummary }
  | { readonly kind: 'more'; readonly shown: number; readonly total: number };

const PAGE = 100;

/** What the log holds, newest first. */
export class TrajectoryTree implements vscode.TreeDataProvider<TrajectoryNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private limit = PAGE;
  private titles = new Map<string, { readonly title: string; readonly tests: number }>();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly packs: Packs,
    private readonly engine: Engine,
  ) {
    this.disposables = [
      this.changed,
      engine.onDidChangeLog(() => this.changed.fire(undefined)),
      packs.onDidChange(() => this.changed.fire(undefined)),
    ];
  }

  async getChildren(node?: TrajectoryNode): Promise<TrajectoryNode[]> {
    if (node !== undefined) return [];
    const [log, packs] = await Promise.all([this.engine.logIfAny(), this.packs.all()]);
    if (log === undefined) return [];
    this.titles = new Map(packs.flatMap((pack) => pack.tasks.map((task) => [task.id, task])));
    const { rows, total } = log.list({ sort: 'newest', offset: 0, limit: this.limit });
    const shown = rows.map((summary): TrajectoryNode => ({ kind: 'trajectory', summary }));
    return rows.length < total ? [...shown, { kind: 'more', shown: rows.length, total }] : shown;
  }

  getTreeItem(node: TrajectoryNode): vscode.TreeItem {
    return node.kind === 'more' ? moreItem(node) : this.item(node);
  }

  showMore(): void {
    this.limit += PAGE;
    this.changed.fire(undefined);
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private item(node: { readonly kind: 'trajectory'; readonly summary: TrajectorySummary }): vscode.TreeItem {
    const { summary } = node;
    const known = this.titles.get(summary.taskId);
    const title = known?.title ?? summary.taskId;
    const outcome = outcomeWords(summary, known?.tests);
    const item = new vscode.TreeItem(title);
    item.id = summary.id;
    item.description = `${outcome} · ${ago(summary.startedAt, Date.now())}`;
    item.iconPath = outcomeIcon(summary);
    item.contextValue = contextValues.trajectory;
    item.tooltip = [
      title,
      `outcome: ${outcome}, ${summary.turns} agent turns`,
      `agent: ${summary.agent}`,
      `collaborator: ${summary.collaborator.name} (${summary.collaborator.kind})`,
      `started: ${new Date(summary.startedAt).toLocaleString()}`,
    ].join('\n');
    item.accessibilityInformation = { label: `${title}, ${outcome}, agent ${summary.agent}` };
    item.command = { command: commands.openTrajectory, title: 'Open', arguments: [node] };
    return item;
  }
}

function outcomeIcon({ state, grades, abandoned }: TrajectorySummary): vscode.ThemeIcon {
  if (state === 'open') return new vscode.ThemeIcon('color-mode');
  if (state === 'abandoned') return new vscode.ThemeIcon(abandoned === 'failed' ? 'warning' : 'dash');
  const success = (grades.fixed ?? grades.paper)?.success;
  if (success === true) return new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'));
  if (success === false) return new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed'));
  return new vscode.ThemeIcon('question');
}

function moreItem({ shown, total }: { readonly shown: number; readonly total: number }): vscode.TreeItem {
  const item = new vscode.TreeItem(`Show ${Math.min(PAGE, total - shown)} more`);
  item.description = `${total - shown} not shown`;
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: commands.showMore, title: 'Show more' };
  return item;
}
