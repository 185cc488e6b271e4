import path from 'node:path';
import * as vscode from 'vscode';
import type { TaskState } from '../../core/dialogue/taskProgress';
import { contextKeys, contextValues, views } from '../contributions';
import { tooltip, moreItem, Tree } from '../tree';
import type { PackDrop } from './adding/addPack';
import {
  badItem,
  othersItem,
  taskItem,
  teachItem,
  type TaskList,
  type TaskMoreRow,
  type TaskNode,
  statusIcons,
  nextUnfinished,
  assignedWords,
  assignmentWords,
  counted,
  numberOfTasks,
  taskStatusOf,
  type TaskStatus,
  taskStatuses,
  taskStatusWords,
} from './items';
import type { Pack, Packs, ListedTask } from '../packs';
import type { PlayedTasks } from './playedTasks';

const { t } = vscode.l10n;

const PAGE = 200;
const MAX_BAD_LINES = 50;

export class TaskTree extends Tree<TaskNode> {
  private readonly shown = new Map<string, number>();
  private wanted: ReadonlySet<TaskStatus> | undefined;
  private hadRuns: boolean | undefined;
  private ambiguous: ReadonlySet<string> = new Set();

  constructor(
    private readonly packs: Packs,
    private readonly played: PlayedTasks,
    private readonly runs: { readonly hasAny: boolean | undefined; readonly onDidChange: vscode.Event<void> },
    drop: PackDrop,
    report: (error: unknown) => void,
  ) {
    super(views.tasks, { dragAndDropController: drop });
    this.owns(
      packs.onDidChange(() => this.redraw()),
      played.onDidChange(() => this.redraw()),
      runs.onDidChange(() => {
        if (this.hadRuns !== runs.hasAny) this.redraw();
      }),
      this.onDidChangeTreeData(() => void this.showFilter().catch(report)),
    );
  }

  protected async children(node?: TaskNode): Promise<TaskNode[]> {
    if (node === undefined) {
      const [packs] = await Promise.all([this.packs.all(), this.played.read()]);
      this.ambiguous = repeated(packs.map(({ name }) => name));
      this.hadRuns = this.runs.hasAny;
      const isOffered = packs.length > 0 && this.hadRuns === false;
      const teach: TaskNode[] = isOffered ? [{ kind: 'teach' }] : [];
      return [...teach, ...packs.map((pack): TaskNode => ({ kind: 'pack', pack }))];
    }
    if (node.kind === 'pack') return this.rowsOf(node.pack);
    return node.kind === 'others' ? this.page(node.pack, node.tasks, 'others') : [];
  }

  getTreeItem(node: TaskNode): vscode.TreeItem {
    switch (node.kind) {
      case 'pack':
        return this.packItem(node.pack);
      case 'teach':
        return teachItem();
      case 'others':
        return othersItem(node);
      case 'task': {
        const played = this.played.of(node.task.pack);
        return taskItem(node, played.state(node.task.id), played.statesOfOthers(node.task.id));
      }
      case 'bad':
        return badItem(node.bad);
      case 'more':
        return moreItem(node, PAGE);
    }
  }

  resolveTreeItem(item: vscode.TreeItem, node: TaskNode): vscode.TreeItem {
    if (node.kind !== 'pack') return item;
    const { file, tasks } = node.pack;
    const assignment = this.played.of(file).assignment(tasks);
    const said = assignment === undefined ? [] : assignmentWords(assignment, t);
    item.tooltip = tooltip('', [vscode.workspace.asRelativePath(file), ...said]);
    return item;
  }

  get filter(): ReadonlySet<TaskStatus> | undefined {
    return this.wanted;
  }

  set filter(wanted: ReadonlySet<TaskStatus> | undefined) {
    this.wanted = wanted;
    this.redraw();
  }

  async counts(): Promise<{ shown: number; total: number; each: ReadonlyMap<TaskStatus, number> }> {
    const [packs] = await Promise.all([this.packs.all(), this.played.read()]);
    const each = new Map<TaskStatus, number>();
    let shown = 0;
    let total = 0;
    for (const { file, tasks } of packs) {
      const played = this.played.of(file);
      for (const { id } of tasks) {
        const status = taskStatusOf(played.state(id));
        each.set(status, (each.get(status) ?? 0) + 1);
        if (this.wanted?.has(status) ?? true) shown += 1;
        total += 1;
      }
    }
    return { shown, total, each };
  }

  async state(task: Pick<ListedTask, 'pack' | 'id'>): Promise<TaskState> {
    await this.played.read();
    return this.played.state(task);
  }

  /** Of the tasks that the person is to play, if the pack is assigned. */
  async nextTask(file: string, after?: string): Promise<ListedTask | undefined> {
    await this.played.read();
    const pack = (await this.packs.all()).find((one) => one.file === file);
    if (pack === undefined) return undefined;
    const played = this.played.of(file);
    return nextUnfinished(played.part(pack.tasks) ?? pack.tasks, after, ({ id }) => played.state(id));
  }

  showMore({ pack, list }: TaskMoreRow): void {
    const key = keyOf(pack, list);
    this.shown.set(key, (this.shown.get(key) ?? PAGE) + PAGE);
    this.redraw();
  }

  /** Returns the rows below a pack: the person's own part first, those of the others in a row of their own. */
  private async rowsOf(pack: Pack): Promise<TaskNode[]> {
    const bad = this.wanted === undefined ? pack.bad.slice(0, MAX_BAD_LINES) : [];
    const rows = bad.map((line): TaskNode => ({ kind: 'bad', bad: line }));
    const own = this.played.of(pack.file).part(pack.tasks) ?? [];
    if (own.length === 0) return [...rows, ...(await this.page(pack, pack.tasks, 'own'))];
    const mine = new Set(own);
    const others = this.filtered(pack.tasks.filter((task) => !mine.has(task)));
    return [
      ...rows,
      ...(await this.page(pack, own, 'own')),
      ...(others.length > 0 ? [{ kind: 'others', pack, tasks: others } as const] : []),
    ];
  }

  private async page(pack: Pack, all: readonly ListedTask[], list: TaskList): Promise<TaskNode[]> {
    const filtered = this.filtered(all);
    const tasks = filtered.slice(0, this.shown.get(keyOf(pack, list)) ?? PAGE);
    await this.played.readReasons(tasks);
    const more = { kind: 'more', pack, list, shown: tasks.length, total: filtered.length } as const;
    return [
      ...tasks.map((task): TaskNode => ({ kind: 'task', task })),
      ...(tasks.length < filtered.length ? [more] : []),
    ];
  }

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
    const [first] = tasks;
    if (wanted === undefined || first === undefined) return tasks;
    const played = this.played.of(first.pack);
    return tasks.filter(({ id }) => wanted.has(taskStatusOf(played.state(id))));
  }

  private packItem(pack: Pack): vscode.TreeItem {
    const item = new vscode.TreeItem(pack.name, vscode.TreeItemCollapsibleState.Expanded);
    const played = this.played.of(pack.file);
    const assignment = played.assignment(pack.tasks);
    const states = pack.tasks.map(({ id }) => played.state(id));
    const words = [
      ...(this.ambiguous.has(pack.name) ? [folderOf(pack)] : []),
      ...(assignment === undefined
        ? [this.tasksIn(pack), counted(states, t)]
        : [
            ...(this.wanted === undefined ? [] : [this.tasksIn(pack)]),
            ...assignedWords(assignment, played.person, t),
            counted(
              states.filter(({ kind }) => kind !== 'done'),
              t,
            ),
          ]),
      pack.bad.length === 0 ? '' : t('bad lines: {0}', pack.bad.length),
    ].filter((part) => part !== '');
    item.id = pack.file;
    item.description = words.join(' · ');
    item.accessibilityInformation = { label: [pack.name, ...words].join(', ') };
    item.contextValue = contextValues.pack;
    return item;
  }

  private tasksIn({ tasks }: Pack): string {
    if (this.wanted !== undefined) return t('{0} of {1} tasks', this.filtered(tasks).length, tasks.length);
    return numberOfTasks(tasks.length, t);
  }
}

const keyOf = ({ file }: Pack, list: TaskList): string => `${list} ${file}`;

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

/** A choice of nothing or of everything shows all. */
export async function askFilter(tree: TaskTree): Promise<void> {
  const { each } = await tree.counts();
  const rows = taskStatuses.map((status) => ({
    label: `$(${statusIcons[status]}) ${taskStatusWords(status, t)}`,
    description: String(each.get(status) ?? 0),
    picked: tree.filter?.has(status) ?? false,
    status,
  }));
  const chosen = await vscode.window.showQuickPick(rows, {
    title: t('Filter Tasks'),
    placeHolder: t('Choose the tasks to show. None chosen: all.'),
    canPickMany: true,
  });
  if (chosen === undefined) return;
  const wanted = new Set(chosen.map(({ status }) => status));
  tree.filter = wanted.size === 0 || wanted.size === taskStatuses.length ? undefined : wanted;
}

function filterWords(filter: ReadonlySet<TaskStatus>): string {
  return taskStatuses
    .filter((status) => filter.has(status))
    .map((status) => taskStatusWords(status, t))
    .join(', ');
}
