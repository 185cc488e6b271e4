import * as vscode from 'vscode';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { afterActivation } from '../afterActivation';
import { contextKeys, views } from '../contributions';
import { unlessClosed } from '../logs';
import { recall } from '../memory';
import type { ShownLog } from '../shownLog';
import type { Packs } from '../tasks/packs';
import { moreItem, Tree } from '../tree';
import { calledFilter, filterSchema, filterWords, isFiltered, namedFilter, type ListFilter } from './filter';
import { groupingSchema, groupsOf, type ListGrouping } from './grouping';
import { filterItem, groupItem, PAGE, trajectoryItem, type TrajectoryNode } from './items';
import { TaskTitles, type KnownTask } from './titles';
import { headline } from './words';

const { t } = vscode.l10n;

/** Keys of the filter and the grouping in the editor's memory. */
const FILTER = 'tandem.trajectoryFilter';
const GROUPING = 'tandem.trajectoryGrouping';

/** The dialogues of the log that match the filter, newest first. */
export class TrajectoryTree extends Tree<TrajectoryNode> {
  /** Number of rows shown in each group; a group without an entry shows one page. */
  private limits = new Map<string, number>();
  private narrowed: ListFilter;
  private putBy: ListGrouping;
  private readonly filtered = new vscode.EventEmitter<undefined>();
  private readonly titles: TaskTitles;
  private known: ReadonlyMap<string, KnownTask> = new Map();

  readonly onDidChangeFilter = this.filtered.event;

  constructor(
    packs: Packs,
    private readonly log: ShownLog,
    private readonly memory: vscode.Memento,
  ) {
    super(views.trajectories, { canSelectMany: true });
    this.narrowed = recall(memory, FILTER, () => filterSchema()) ?? {};
    this.putBy = recall(memory, GROUPING, () => groupingSchema()) ?? 'source';
    this.titles = new TaskTitles(packs);
    this.owns(
      this.filtered,
      afterActivation(() => this.tellIfFiltered()),
      log.onDidChange(() => this.limits.clear()),
      log.onDidChangeDialogues(() => this.redraw()),
      packs.onDidChange(() => this.redraw()),
    );
    this.eachMinute(() => this.redraw());
  }

  get filter(): ListFilter {
    return this.narrowed;
  }

  set filter({ named: _, ...filter }: ListFilter) {
    this.narrowed = filter;
    this.limits.clear();
    void this.memory.update(FILTER, filter);
    this.tellIfFiltered();
    this.redraw();
    this.filtered.fire(undefined);
  }

  get grouping(): ListGrouping {
    return this.putBy;
  }

  set grouping(grouping: ListGrouping) {
    this.putBy = grouping;
    this.limits.clear();
    void this.memory.update(GROUPING, grouping);
    this.redraw();
  }

  /** Returns the filter for queries to the log: its text is matched against the names on the screen, too. */
  async namedFilter(log: TrajectoryLog, engine = this.log.engine): Promise<ListFilter> {
    const { narrowed } = this;
    if (narrowed.text === undefined) return narrowed;
    const titles = await this.titles.of(log, log.oneOfEachTask());
    return namedFilter(narrowed, titles, log, engine);
  }

  /** Returns the titles of the tasks of some dialogues, by the tasks' ids. */
  titlesOf(log: TrajectoryLog, rows: readonly TrajectorySummary[]): Promise<ReadonlyMap<string, KnownTask>> {
    return this.titles.of(log, new Map(rows.map(({ taskId, id }) => [taskId, id])));
  }

  get selected(): readonly TrajectorySummary[] {
    return summariesOf(this.view.selection);
  }

  /** Returns the title that the list has for a dialogue's task. */
  title({ taskId }: TrajectorySummary): string {
    return this.known.get(taskId)?.title ?? taskId;
  }

  async getChildren(node?: TrajectoryNode): Promise<TrajectoryNode[]> {
    return (await unlessClosed(() => this.children(node))) ?? [];
  }

  private async children(node?: TrajectoryNode): Promise<TrajectoryNode[]> {
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
        return moreItem(node, PAGE);
    }
  }

  showMore(of = ''): void {
    this.limits.set(of, this.limitOf(of) + PAGE);
    this.redraw();
  }

  refresh(): void {
    this.redraw();
  }

  private limitOf(group: string): number {
    return this.limits.get(group) ?? PAGE;
  }

  /** Returns the groups; the dialogues themselves where all of them would be in one group. */
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

/** Returns the dialogues among some rows of the list. */
export function summariesOf(nodes: readonly { readonly kind: string }[]): TrajectorySummary[] {
  return (nodes as readonly TrajectoryNode[]).flatMap((node) =>
    node.kind === 'trajectory' ? [node.summary] : [],
  );
}
