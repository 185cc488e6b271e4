import * as vscode from 'vscode';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { afterActivation } from '../afterActivation';
import { contextKeys, views } from '../contributions';
import { eachMinute } from '../eachMinute';
import { recall } from '../memory';
import type { ShownLog } from '../shownLog';
import type { Packs } from '../tasks/packs';
import { calledFilter, filterSchema, filterWords, isFiltered, namedFilter, type ListFilter } from './filter';
import { groupingSchema, groupsOf, type Group, type Grouping } from './grouping';
import { filterItem, groupItem, moreItem, PAGE, trajectoryItem } from './items';
import { TaskTitles, type KnownTask } from './titles';
import { headline } from './words';

export type TrajectoryNode =
  | { readonly kind: 'trajectory'; readonly summary: TrajectorySummary }
  /** Which filter is on; the first row while there is one. */
  | { readonly kind: 'filter'; readonly words: string; readonly matching: number; readonly all: number }
  | { readonly kind: 'group'; readonly group: Group }
  /** `of`: the key of the group that has more; empty of the list itself. */
  | { readonly kind: 'more'; readonly of: string; readonly shown: number; readonly total: number };

const { t } = vscode.l10n;

/** Where the editor keeps the filter and the grouping over a reload. */
const FILTER = 'tandem.trajectoryFilter';
const GROUPING = 'tandem.trajectoryGrouping';

/** What the log holds, newest first, as far as the filter leaves it. */
export class TrajectoryTree implements vscode.TreeDataProvider<TrajectoryNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<TrajectoryNode>;
  /** How many rows are shown of a group; a page of one that is not there. */
  private limits = new Map<string, number>();
  private narrowed: ListFilter;
  private putBy: Grouping;
  private readonly filtered = new vscode.EventEmitter<undefined>();
  private readonly titles: TaskTitles;
  private known: ReadonlyMap<string, KnownTask> = new Map();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changed.event;
  readonly onDidChangeFilter = this.filtered.event;

  constructor(
    packs: Packs,
    private readonly log: ShownLog,
    private readonly memory: vscode.Memento,
  ) {
    this.narrowed = recall(memory, FILTER, () => filterSchema()) ?? {};
    this.putBy = recall(memory, GROUPING, () => groupingSchema()) ?? 'source';
    this.titles = new TaskTitles(packs);
    this.view = vscode.window.createTreeView(views.trajectories, {
      treeDataProvider: this,
      canSelectMany: true,
    });
    this.disposables = [
      this.changed,
      this.filtered,
      this.view,
      afterActivation(() => this.tellIfFiltered()),
      log.onDidChange(() => this.limits.clear()),
      eachMinute(this.view, () => this.changed.fire(undefined)),
      log.onDidChangeDialogues(() => this.changed.fire(undefined)),
      packs.onDidChange(() => this.changed.fire(undefined)),
    ];
  }

  get filter(): ListFilter {
    return this.narrowed;
  }

  set filter({ named: _, ...filter }: ListFilter) {
    this.narrowed = filter;
    this.limits.clear();
    void this.memory.update(FILTER, filter);
    this.tellIfFiltered();
    this.changed.fire(undefined);
    this.filtered.fire(undefined);
  }

  get grouping(): Grouping {
    return this.putBy;
  }

  set grouping(grouping: Grouping) {
    this.putBy = grouping;
    this.limits.clear();
    void this.memory.update(GROUPING, grouping);
    this.changed.fire(undefined);
  }

  /** The same filter, which finds its text in the names on the screen, too: what a log is asked with. */
  async namedFilter(log: TrajectoryLog, engine = this.log.engine): Promise<ListFilter> {
    const { narrowed } = this;
    if (narrowed.text === undefined) return narrowed;
    const titles = await this.titles.of(log, log.oneOfEachTask());
    return namedFilter(narrowed, titles, log, engine);
  }

  /** What the tasks of some dialogues are called, by their ids. */
  titlesOf(log: TrajectoryLog, rows: readonly TrajectorySummary[]): Promise<ReadonlyMap<string, KnownTask>> {
    return this.titles.of(log, new Map(rows.map(({ taskId, id }) => [taskId, id])));
  }

  /** The dialogues that are selected. */
  get selected(): readonly TrajectorySummary[] {
    return summariesOf(this.view.selection);
  }

  /** What the list calls the task of a dialogue. */
  title({ taskId }: TrajectorySummary): string {
    return this.known.get(taskId)?.title ?? taskId;
  }

  async getChildren(node?: TrajectoryNode): Promise<TrajectoryNode[]> {
    const { name, engine } = this.log;
    if (node === undefined) this.view.description = name;
    const log = await engine.logIfAny();
    if (log === undefined) return [];
    if (node !== undefined)
      return node.kind === 'group' ? this.rows(log, node.group.filter, node.group.key) : [];
    const filter = await this.namedFilter(log);
    const counts = log.count(filter);
    this.view.description = [name ?? [], headline(counts, t)].flat().filter(Boolean).join(' · ');
    const shown = await this.grouped(log, filter);
    if (isFiltered(filter)) {
      const words = filterWords(calledFilter(filter, log, engine), t);
      shown.unshift({ kind: 'filter', words, matching: counts.total, all: log.count().total });
    }
    return shown;
  }

  getTreeItem(node: TrajectoryNode): vscode.TreeItem {
    switch (node.kind) {
      case 'trajectory':
        return trajectoryItem(node, {
          title: this.title(node.summary),
          task: this.known.get(node.summary.taskId),
          namer: this.log.engine,
          isOfAgent: this.putBy === 'agent',
        });
      case 'group':
        return groupItem(node.group);
      case 'filter':
        return filterItem(node);
      case 'more':
        return moreItem(node);
    }
  }

  showMore(of = ''): void {
    this.limits.set(of, this.limitOf(of) + PAGE);
    this.changed.fire(undefined);
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private limitOf(group: string): number {
    return this.limits.get(group) ?? PAGE;
  }

  /** The groups; the dialogues themselves where all of them would be in one. */
  private async grouped(log: TrajectoryLog, filter: ListFilter): Promise<TrajectoryNode[]> {
    const { putBy: grouping } = this;
    if (grouping === 'none') return this.rows(log, filter);
    if (grouping === 'task') this.known = await this.titles.of(log, log.oneOfEachTask());
    const titleOf = (task: string): string => this.known.get(task)?.title ?? task;
    const limit = this.limitOf('');
    const { groups, total } = groupsOf(log, filter, grouping, titleOf, limit, this.log.engine, t);
    if (grouping === 'source' && total <= 1) return this.rows(log, filter);
    return this.withMore(
      groups.map((group) => ({ kind: 'group', group })),
      total,
    );
  }

  private async rows(log: TrajectoryLog, filter: TrajectoryFilter, group = ''): Promise<TrajectoryNode[]> {
    const { rows, total } = log.list({ filter, offset: 0, limit: this.limitOf(group) });
    this.known = await this.titlesOf(log, rows);
    const shown = rows.map((summary): TrajectoryNode => ({ kind: 'trajectory', summary }));
    return this.withMore(shown, total, group);
  }

  private withMore(shown: TrajectoryNode[], total: number, of = ''): TrajectoryNode[] {
    return shown.length < total ? [...shown, { kind: 'more', of, shown: shown.length, total }] : shown;
  }

  private tellIfFiltered(): void {
    const isNarrowed = isFiltered(this.narrowed);
    void vscode.commands.executeCommand('setContext', contextKeys.trajectoriesAreFiltered, isNarrowed);
  }
}

/** The dialogues among some rows of the list. */
export function summariesOf(nodes: readonly { readonly kind: string }[]): TrajectorySummary[] {
  return (nodes as readonly TrajectoryNode[]).flatMap((node) =>
    node.kind === 'trajectory' ? [node.summary] : [],
  );
}
