import * as vscode from 'vscode';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { afterActivation } from '../afterActivation';
import { commands, contextKeys, contextValues, views } from '../contributions';
import { collaboratorCalled } from '../models/called';
import { recall } from '../memory';
import type { ShownLog } from '../shownLog';
import type { Packs } from '../tasks/packs';
import {
  calledFilter,
  filterSchema,
  filterWords,
  isFiltered,
  leakWords,
  namedFilter,
  type ListFilter,
} from './filter';
import { TaskTitles, type KnownTask } from './titles';
import { ago, grouped, headline, outcomeWords } from './words';

export type TrajectoryNode =
  | { readonly kind: 'trajectory'; readonly summary: TrajectorySummary }
  /** Which filter is on; the first row while there is one. */
  | { readonly kind: 'filter'; readonly words: string; readonly matching: number; readonly all: number }
  | { readonly kind: 'more'; readonly shown: number; readonly total: number };

const { t } = vscode.l10n;

const PAGE = 100;
/** Where the editor keeps the filter over a reload. */
const FILTER = 'tandem.trajectoryFilter';

/** What the log holds, newest first, as far as the filter leaves it. */
export class TrajectoryTree implements vscode.TreeDataProvider<TrajectoryNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<TrajectoryNode>;
  private limit = PAGE;
  private narrowed: ListFilter;
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
      log.onDidChange(() => (this.limit = PAGE)),
      log.onDidChangeDialogues(() => this.changed.fire(undefined)),
      packs.onDidChange(() => this.changed.fire(undefined)),
    ];
  }

  get filter(): ListFilter {
    return this.narrowed;
  }

  set filter({ named: _, ...filter }: ListFilter) {
    this.narrowed = filter;
    this.limit = PAGE;
    void this.memory.update(FILTER, filter);
    this.tellIfFiltered();
    this.changed.fire(undefined);
    this.filtered.fire(undefined);
  }

  /** The same filter, which finds its text in the names on the screen, too: what a log is asked with. */
  async namedFilter(log: TrajectoryLog, engine = this.log.engine): Promise<ListFilter> {
    const { narrowed } = this;
    if (narrowed.text === undefined) return narrowed;
    const titles = await this.titles.of(log, log.oneOfEachTask());
    return namedFilter(narrowed, titles, log, engine);
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
    if (node !== undefined) return [];
    const { name, engine } = this.log;
    this.view.description = name;
    const log = await engine.logIfAny();
    if (log === undefined) return [];
    const filter = await this.namedFilter(log);
    const { rows, total } = log.list({ filter, offset: 0, limit: this.limit });
    this.known = await this.titles.of(log, new Map(rows.map(({ taskId, id }) => [taskId, id])));
    this.view.description = [name ?? [], headline(log.count(filter), t)].flat().filter(Boolean).join(' · ');
    const shown = rows.map((summary): TrajectoryNode => ({ kind: 'trajectory', summary }));
    if (isFiltered(filter)) {
      const words = filterWords(calledFilter(filter, log, engine), t);
      shown.unshift({ kind: 'filter', words, matching: total, all: log.count().total });
    }
    return rows.length < total ? [...shown, { kind: 'more', shown: rows.length, total }] : shown;
  }

  getTreeItem(node: TrajectoryNode): vscode.TreeItem {
    switch (node.kind) {
      case 'trajectory':
        return this.item(node);
      case 'filter':
        return filterItem(node);
      case 'more':
        return moreItem(node);
    }
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

  private tellIfFiltered(): void {
    const isNarrowed = isFiltered(this.narrowed);
    void vscode.commands.executeCommand('setContext', contextKeys.trajectoriesAreFiltered, isNarrowed);
  }

  private item(node: Extract<TrajectoryNode, { kind: 'trajectory' }>): vscode.TreeItem {
    const { summary } = node;
    const title = this.title(summary);
    const outcome = outcomeWords(summary, this.known.get(summary.taskId)?.tests, t);
    const { engine } = this.log;
    const agent = engine.calledBy(summary.agent);
    const collaborator = collaboratorCalled(summary.collaborator, engine);
    const leak = summary.leaked ? ` · ${t('leak')}` : '';
    const item = new vscode.TreeItem(title);
    item.id = summary.id;
    const doubt = summary.doubtful ? ` · ${t('doubtful')}` : '';
    item.description = `${outcome}${leak}${doubt} · ${ago(summary.startedAt, Date.now(), t)}`;
    item.iconPath = outcomeIcon(summary);
    item.contextValue = contextValues.trajectory;
    item.tooltip = [
      title,
      t('outcome: {0}, {1} agent turns', outcome, summary.turns),
      ...(summary.leaked ? [t('a reply gives the reference away')] : []),
      ...(summary.doubtful
        ? [t('doubtful: lines lost from the log may have deleted it or marked a leak')]
        : []),
      ...(summary.stars === undefined ? [] : [t('rating: {0} of 5', summary.stars)]),
      t('agent: {0}', agent),
      t('collaborator: {0} ({1})', collaborator, summary.collaborator.kind),
      t('started: {0}', new Date(summary.startedAt).toLocaleString()),
    ].join('\n');
    item.accessibilityInformation = {
      label: [
        ...[title, outcome, t('agent {0}', agent)],
        ...(summary.leaked ? [leakWords(true, t)] : []),
        ...(summary.doubtful ? [t('doubtful')] : []),
      ].join(', '),
    };
    item.command = { command: commands.openTrajectory, title: t('Open'), arguments: [node] };
    return item;
  }
}

/** The dialogues among some rows of the list. */
export function summariesOf(nodes: readonly { readonly kind: string }[]): TrajectorySummary[] {
  return (nodes as readonly TrajectoryNode[]).flatMap((node) =>
    node.kind === 'trajectory' ? [node.summary] : [],
  );
}

function outcomeIcon({ state, grades, abandoned }: TrajectorySummary): vscode.ThemeIcon {
  if (state === 'open') return new vscode.ThemeIcon('color-mode');
  if (state === 'abandoned') return new vscode.ThemeIcon(abandoned === 'failed' ? 'warning' : 'dash');
  const success = (grades.fixed ?? grades.paper)?.success;
  if (success === true) return new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'));
  if (success === false) return new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed'));
  return new vscode.ThemeIcon('question');
}

function filterItem({ words, matching, all }: Extract<TrajectoryNode, { kind: 'filter' }>): vscode.TreeItem {
  const item = new vscode.TreeItem(words);
  item.id = 'filter';
  item.description = t('{0} of {1}', grouped(matching), grouped(all));
  item.iconPath = new vscode.ThemeIcon('filter-filled');
  item.contextValue = contextValues.trajectoryFilter;
  item.tooltip = t('Only these are shown: {0}', words);
  item.accessibilityInformation = { label: t('Filter: {0}, {1} of {2} dialogues', words, matching, all) };
  item.command = { command: commands.filterTrajectories, title: t('Filter') };
  return item;
}

function moreItem({ shown, total }: Extract<TrajectoryNode, { kind: 'more' }>): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Show {0} more', Math.min(PAGE, total - shown)));
  item.description = t('{0} not shown', grouped(total - shown));
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: commands.showMore, title: t('Show more') };
  return item;
}
