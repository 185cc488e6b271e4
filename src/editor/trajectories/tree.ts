import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { isThere } from '../../core/trajectory/files';
import type { TrajectoryCounts, TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { afterActivation } from '../background';
import { contextKeys, views } from '../contributions';
import { unlessClosed } from '../logs';
import { recall } from '../recall';
import type { ShownLog } from '../engines';
import type { Packs } from '../packs';
import { moreItem, Tree } from '../tree';
import {
  calledFilter,
  chosenOf,
  filterSchema,
  filterWords,
  isFiltered,
  namedFilter,
  type ListFilter,
} from '../dialogue/filter';
import { groupingSchema, groupsOf, type ListGrouping } from './grouping';
import {
  filterItem,
  groupItem,
  PAGE,
  trajectoryItem,
  type TrajectoryNode,
  TaskTitles,
  type KnownTask,
} from './items';
import { givenTitle, headline } from '../dialogue/words';
import { lazily } from '../../core/lazily';
import type { Memory } from '../consent';

const { t } = vscode.l10n;

const FILTER = 'tandem.trajectoryFilter';
const GROUPING = 'tandem.trajectoryGrouping';

interface Drawn {
  readonly log: TrajectoryLog;
  readonly filter: ListFilter;
  readonly grouping: ListGrouping;
  readonly groups: readonly TrajectoryFilter[];
}

export class TrajectoryTree extends Tree<TrajectoryNode> {
  private limits = new Map<string, number>();
  private narrowed: ListFilter;
  private putBy: ListGrouping;
  private readonly filtered = new vscode.EventEmitter<undefined>();
  private readonly titles: TaskTitles;
  private known: ReadonlyMap<string, KnownTask> = new Map();
  /** Rows of dialogues that were drawn last, by the dialogues' ids, each with its group. */
  private readonly places = new Map<
    string,
    { readonly row: TrajectoryNode; readonly group: TrajectoryNode | undefined }
  >();
  /** Filters of the groups that were drawn last, and what they were drawn of. */
  private drawn: Drawn | undefined;
  readonly saved: SavedFilters;

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
    this.saved = new SavedFilters(memory);
    const report = (error: unknown): void => log.engine.report(error);
    this.owns(
      this.filtered,
      afterActivation(() => {
        this.tellIfFiltered();
        this.tellIfAny().catch(report);
      }),
      log.onDidChange(() => this.limits.clear()),
      log.onDidChangeDialogues(() => {
        this.tellIfAny().catch(report);
        this.redraw();
      }),
      packs.onDidChange(() => this.redraw()),
    );
    this.eachMinute(() => this.redraw());
  }

  get filter(): ListFilter {
    return this.narrowed;
  }

  set filter(filter: ListFilter) {
    this.narrowed = chosenOf(filter);
    this.limits.clear();
    void this.memory.update(FILTER, this.narrowed);
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

  async namedFilter(log: TrajectoryLog): Promise<ListFilter> {
    const { narrowed } = this;
    const titles = narrowed.text === undefined ? new Map() : await this.titles.ofAll(log);
    return namedFilter(narrowed, titles, log, this.log.engine);
  }

  /** Filters in the order of the list; each gives its dialogues, newest first. */
  async inOrder(log: TrajectoryLog): Promise<readonly TrajectoryFilter[]> {
    const { drawn } = this;
    const isAsDrawn = drawn?.log === log && drawn.filter === this.narrowed && drawn.grouping === this.putBy;
    return isAsDrawn ? drawn.groups : [await this.namedFilter(log)];
  }

  titlesOf(log: TrajectoryLog, rows: readonly TrajectorySummary[]): Promise<ReadonlyMap<string, KnownTask>> {
    return this.titles.of(log, new Map(rows.map(({ taskId, id }) => [taskId, id])));
  }

  title(summary: TrajectorySummary): string {
    return givenTitle(summary) ?? this.known.get(summary.taskId)?.title ?? summary.taskId;
  }

  protected async children(node?: TrajectoryNode): Promise<TrajectoryNode[]> {
    const rows = (await unlessClosed(() => this.below(node))) ?? [];
    if (node === undefined) this.places.clear();
    for (const row of rows) {
      if (row.kind === 'trajectory') this.places.set(row.summary.id, { row, group: node });
    }
    return rows;
  }

  /** Called by the editor to find a row that it is told to select. */
  getParent(node: TrajectoryNode): TrajectoryNode | undefined {
    return node.kind === 'trajectory' ? this.places.get(node.summary.id)?.group : undefined;
  }

  /** Selects the row of a dialogue, where the view is seen and has it; the focus stays where it is. */
  async select(episode: string): Promise<void> {
    const row = this.places.get(episode)?.row;
    if (row !== undefined && this.view.visible) await this.view.reveal(row, { focus: false });
  }

  private async below(node?: TrajectoryNode): Promise<TrajectoryNode[]> {
    const { name, engine } = this.log;
    if (node === undefined) this.view.description = name;
    const log = await engine.logIfAny();
    if (log === undefined) return [];
    if (node !== undefined)
      return node.kind === 'group' ? this.rows(log, node.group.filter, node.group.key) : [];
    const filter = await this.namedFilter(log);
    const { counts, shown } = await this.grouped(log, filter);
    this.view.description = [name ?? [], headline(counts, t)].flat().filter(Boolean).join(' · ');
    if (isFiltered(filter)) {
      const words = filterWords(calledFilter(filter, log, engine), t);
      const { total: all } = log.list({ offset: 0, limit: 0 });
      shown.unshift({ kind: 'filter', words, matching: counts.total, all });
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
          isOfCollaborator: this.putBy === 'collaborator',
          own: this.log.engine.consent.given?.pseudonym,
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

  /** Returns the groups, or the dialogues themselves where all of them would be in one group, and counts all. */
  private async grouped(
    log: TrajectoryLog,
    filter: ListFilter,
  ): Promise<{ readonly shown: TrajectoryNode[]; readonly counts: TrajectoryCounts }> {
    const { putBy: grouping, narrowed } = this;
    this.drawn = undefined;
    if (grouping === 'none') return { shown: await this.rows(log, filter), counts: log.count(filter) };
    if (grouping === 'task') this.known = await this.titles.ofAll(log);
    const titleOf = (task: string): string => this.known.get(task)?.title ?? task;
    const limit = this.limitOf('');
    const found = groupsOf(log, filter, grouping, titleOf, limit, this.log.engine, t);
    const { groups, total, counts } = found;
    if (grouping === 'source' && total <= 1) return { shown: await this.rows(log, filter), counts };
    this.drawn = { log, filter: narrowed, grouping, groups: groups.map((group) => group.filter) };
    const shown = groups.map((group): TrajectoryNode => ({ kind: 'group', group }));
    return { shown: this.withMore(shown, total), counts };
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

  /** The log itself is opened only where it is shown. */
  private async tellIfAny(): Promise<void> {
    const { dataFolder } = this.log.engine;
    const hasLog = dataFolder !== '' && (await isThere(path.join(dataFolder, 'log')));
    void vscode.commands.executeCommand('setContext', contextKeys.hasDialogues, hasLog);
  }

  private tellIfFiltered(): void {
    const isNarrowed = isFiltered(this.narrowed);
    void vscode.commands.executeCommand('setContext', contextKeys.trajectoriesAreFiltered, isNarrowed);
  }
}

export function summariesOf(nodes: readonly { readonly kind: string }[]): TrajectorySummary[] {
  return (nodes as readonly TrajectoryNode[]).flatMap((node) =>
    node.kind === 'trajectory' ? [node.summary] : [],
  );
}

const KEY = 'tandem.savedFilters';

export interface SavedFilter {
  readonly name: string;
  readonly filter: ListFilter;
  readonly grouping: ListGrouping;
}

const schema = lazily((): z.ZodType<SavedFilter> =>
  z.strictObject({ name: z.string().min(1), filter: filterSchema(), grouping: groupingSchema() }),
);
const namedSchema = lazily(() => z.looseObject({ name: z.string() }));

/** The saved filters of a workspace. One that another version of Tandem wrote stays for it, and is not shown here. */
export class SavedFilters {
  constructor(private readonly memory: Memory) {}

  get all(): readonly SavedFilter[] {
    return this.kept.flatMap((one) => schema().safeParse(one).data ?? []);
  }

  save({ name, filter, grouping }: SavedFilter): void {
    const saved: SavedFilter = { name, filter: chosenOf(filter), grouping };
    void this.memory.update(KEY, [...this.without(name), saved]);
  }

  remove(name: string): void {
    void this.memory.update(KEY, this.without(name));
  }

  private without(name: string): unknown[] {
    return this.kept.filter((one) => namedSchema().safeParse(one).data?.name !== name);
  }

  private get kept(): readonly unknown[] {
    const kept = this.memory.get(KEY);
    return Array.isArray(kept) ? (kept as unknown[]) : [];
  }
}
