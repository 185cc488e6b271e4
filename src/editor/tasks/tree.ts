import path from 'node:path';
import * as vscode from 'vscode';
import { contextKeys, contextValues, views } from '../contributions';
import { moreItem, Tree } from '../tree';
import type { PackDrop } from './adding/drop';
import { filterWords } from './filter';
import { badItem, taskItem, type TaskNode } from './items';
import type { Pack, Packs, ListedTask } from './packs';
import type { PlayedTasks } from './played';
import { nextUnfinished, type TaskState } from './progress';
import { counted, taskStatusOf, type TaskStatus } from './status';

const { t } = vscode.l10n;

/** Number of tasks of a pack that are shown at first, and more at each press: a tree of ten thousand helps nobody. */
const PAGE = 200;
/** Maximum number of bad lines that are shown; more would say the same thing. */
const MOST_BAD = 50;

/** The packs of the workspace, with the person's progress on each task. */
export class TaskTree extends Tree<TaskNode> {
  private readonly shown = new Map<string, number>();
  private wanted: ReadonlySet<TaskStatus> | undefined;
  /** Names that several packs have. */
  private ambiguous: ReadonlySet<string> = new Set();

  constructor(
    private readonly packs: Packs,
    private readonly played: PlayedTasks,
    drop: PackDrop,
    report: (error: unknown) => void,
  ) {
    super(views.tasks, { dragAndDropController: drop });
    this.owns(
      packs.onDidChange(() => this.redraw()),
      played.onDidChange(() => this.redraw()),
      this.onDidChangeTreeData(() => void this.showFilter().catch(report)),
    );
  }

  async getChildren(node?: TaskNode): Promise<TaskNode[]> {
    if (node === undefined) {
      const [packs] = await Promise.all([this.packs.all(), this.played.read()]);
      this.ambiguous = repeated(packs.map(({ name }) => name));
      return packs.map((pack) => ({ kind: 'pack', pack }));
    }
    if (node.kind !== 'pack') return [];
    const { pack } = node;
    const filtered = this.filtered(pack.tasks);
    const tasks = filtered.slice(0, this.shown.get(pack.file) ?? PAGE);
    await this.played.readReasons(tasks);
    const bad = this.wanted === undefined ? pack.bad.slice(0, MOST_BAD) : [];
    const more = { kind: 'more', pack, shown: tasks.length, total: filtered.length } as const;
    return [
      ...bad.map((line): TaskNode => ({ kind: 'bad', bad: line })),
      ...tasks.map((task): TaskNode => ({ kind: 'task', task })),
      ...(tasks.length < filtered.length ? [more] : []),
    ];
  }

  getTreeItem(node: TaskNode): vscode.TreeItem {
    switch (node.kind) {
      case 'pack':
        return this.packItem(node.pack);
      case 'task':
        return taskItem(node, this.played.state(node.task));
      case 'bad':
        return badItem(node.bad);
      case 'more':
        return moreItem(node, PAGE);
    }
  }

  /** States of the tasks that are shown; undefined shows all. */
  get filter(): ReadonlySet<TaskStatus> | undefined {
    return this.wanted;
  }

  set filter(wanted: ReadonlySet<TaskStatus> | undefined) {
    this.wanted = wanted;
    this.redraw();
  }

  /** Counts the tasks that the filter leaves, all tasks, and those of each state. */
  async counts(): Promise<{ shown: number; total: number; each: ReadonlyMap<TaskStatus, number> }> {
    const [packs] = await Promise.all([this.packs.all(), this.played.read()]);
    const each = new Map<TaskStatus, number>();
    let shown = 0;
    let total = 0;
    for (const task of packs.flatMap((pack) => pack.tasks)) {
      const status = taskStatusOf(this.played.state(task));
      each.set(status, (each.get(status) ?? 0) + 1);
      if (this.wanted?.has(status) ?? true) shown += 1;
      total += 1;
    }
    return { shown, total, each };
  }

  /** Returns the state of the newest dialogue about a task. */
  async state(task: Pick<ListedTask, 'pack' | 'id'>): Promise<TaskState> {
    await this.played.read();
    return this.played.state(task);
  }

  /** Returns the next task of the pack to play after this one. */
  async nextTask(file: string, after?: string): Promise<ListedTask | undefined> {
    await this.played.read();
    const pack = (await this.packs.all()).find((one) => one.file === file);
    return pack && nextUnfinished(pack.tasks, after, (task) => this.played.state(task));
  }

  showMore(pack: Pack): void {
    this.shown.set(pack.file, (this.shown.get(pack.file) ?? PAGE) + PAGE);
    this.redraw();
  }

  /** Says above the rows that not all tasks are shown. */
  private async showFilter(): Promise<void> {
    const { wanted } = this;
    await vscode.commands.executeCommand('setContext', contextKeys.tasksAreFiltered, wanted !== undefined);
    if (wanted === undefined) {
      this.view.message = undefined;
      return;
    }
    const { shown, total } = await this.counts();
    this.view.message = t('Filter: {0}. {1} of {2} tasks are shown.', filterWords(wanted), shown, total);
  }

  private filtered(tasks: readonly ListedTask[]): readonly ListedTask[] {
    const { wanted } = this;
    return wanted === undefined
      ? tasks
      : tasks.filter((task) => wanted.has(taskStatusOf(this.played.state(task))));
  }

  private packItem(pack: Pack): vscode.TreeItem {
    const item = new vscode.TreeItem(pack.name, vscode.TreeItemCollapsibleState.Expanded);
    const words = [
      ...(this.ambiguous.has(pack.name) ? [folderOf(pack)] : []),
      this.tasksIn(pack),
      counted(
        pack.tasks.map((task) => this.played.state(task)),
        t,
      ),
      badLines(pack.bad.length),
    ].filter((part) => part !== '');
    item.id = pack.file;
    item.description = words.join(' · ');
    item.tooltip = vscode.workspace.asRelativePath(pack.file);
    item.accessibilityInformation = { label: [pack.name, ...words].join(', ') };
    item.contextValue = contextValues.pack;
    return item;
  }

  private tasksIn({ tasks }: Pack): string {
    if (this.wanted !== undefined) return t('{0} of {1} tasks', this.filtered(tasks).length, tasks.length);
    return tasks.length === 1 ? t('1 task') : t('{0} tasks', tasks.length);
  }
}

function badLines(count: number): string {
  if (count === 0) return '';
  return count === 1 ? t('1 bad line') : t('{0} bad lines', count);
}

/** Returns the location of a pack: the path within its workspace folder, which is named when there are several. */
export function folderOf({ file }: Pick<Pack, 'file'>): string {
  const folder = path.dirname(file);
  const uri = vscode.Uri.file(folder);
  const root = vscode.workspace.getWorkspaceFolder(uri);
  return root?.uri.fsPath === folder ? root.name : vscode.workspace.asRelativePath(uri);
}

function repeated(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name, index) => names.indexOf(name) !== index));
}
