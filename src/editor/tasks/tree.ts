import path from 'node:path';
import * as vscode from 'vscode';
import type { BadLine } from '../../core/task/pack';
import { contextValues } from '../contributions';
import { badItem, moreItem, taskItem } from './items';
import { nextUnfinished } from './next';
import type { Pack, Packs, PackTask } from './packs';
import type { Played } from './played';
import type { TaskState } from './progress';
import { counted, standingOf, type Standing } from './standing';

export type TaskNode =
  | { readonly kind: 'pack'; readonly pack: Pack }
  | { readonly kind: 'task'; readonly task: PackTask }
  | { readonly kind: 'bad'; readonly bad: BadLine }
  | { readonly kind: 'more'; readonly pack: Pack; readonly shown: number; readonly total: number };

const { t } = vscode.l10n;

/** So many tasks of a pack are shown at first, and more at each press: a tree of ten thousand helps nobody. */
const PAGE = 200;
/** More bad lines than this say the same thing. */
const MOST_BAD = 50;

/** The packs of the workspace and how far the person has come with each task. */
export class TaskTree implements vscode.TreeDataProvider<TaskNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly shown = new Map<string, number>();
  private wanted: ReadonlySet<Standing> | undefined;
  /** Names that more than one pack has. */
  private ambiguous: ReadonlySet<string> = new Set();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly packs: Packs,
    private readonly played: Played,
  ) {
    this.disposables = [
      this.changed,
      packs.onDidChange(() => this.changed.fire(undefined)),
      played.onDidChange(() => this.changed.fire(undefined)),
    ];
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

  /** Only tasks that stand so are shown; all when it is undefined. */
  get filter(): ReadonlySet<Standing> | undefined {
    return this.wanted;
  }

  set filter(wanted: ReadonlySet<Standing> | undefined) {
    this.wanted = wanted;
    this.changed.fire(undefined);
  }

  /** How many tasks the filter leaves, of how many; and of each standing how many there are. */
  async counts(): Promise<{ shown: number; total: number; each: ReadonlyMap<Standing, number> }> {
    const [packs] = await Promise.all([this.packs.all(), this.played.read()]);
    const each = new Map<Standing, number>();
    let shown = 0;
    let total = 0;
    for (const task of packs.flatMap((pack) => pack.tasks)) {
      const standing = standingOf(this.played.state(task));
      each.set(standing, (each.get(standing) ?? 0) + 1);
      if (this.wanted?.has(standing) ?? true) shown += 1;
      total += 1;
    }
    return { shown, total, each };
  }

  /** How far the newest dialogue about a task has come. */
  async state(task: Pick<PackTask, 'pack' | 'id'>): Promise<TaskState> {
    await this.played.read();
    return this.played.state(task);
  }

  /** The next task of the pack to play after this one. */
  async nextTask(file: string, after?: string): Promise<PackTask | undefined> {
    await this.played.read();
    const pack = (await this.packs.all()).find((one) => one.file === file);
    return pack && nextUnfinished(pack.tasks, after, (task) => this.played.state(task));
  }

  showMore(pack: Pack): void {
    this.shown.set(pack.file, (this.shown.get(pack.file) ?? PAGE) + PAGE);
    this.changed.fire(undefined);
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private filtered(tasks: readonly PackTask[]): readonly PackTask[] {
    const { wanted } = this;
    return wanted === undefined
      ? tasks
      : tasks.filter((task) => wanted.has(standingOf(this.played.state(task))));
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

/** Where a pack stands: the folder of the workspace when there are several, and the way from there. */
export function folderOf({ file }: Pick<Pack, 'file'>): string {
  const folder = path.dirname(file);
  const uri = vscode.Uri.file(folder);
  const root = vscode.workspace.getWorkspaceFolder(uri);
  return root?.uri.fsPath === folder ? root.name : vscode.workspace.asRelativePath(uri);
}

function repeated(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name, index) => names.indexOf(name) !== index));
}
