import path from 'node:path';
import * as vscode from 'vscode';
import type { BadLine } from '../../core/task/pack';
import { commands, contextValues } from '../contributions';
import type { Engine } from '../engine';
import type { Pack, Packs, PackTask } from './packs';
import { counted, Progress, stateWords, type TaskState } from './progress';

export type TaskNode =
  | { readonly kind: 'pack'; readonly pack: Pack }
  | { readonly kind: 'task'; readonly task: PackTask }
  | { readonly kind: 'bad'; readonly bad: BadLine }
  | { readonly kind: 'more'; readonly pack: Pack; readonly shown: number };

/** So many tasks of a pack are shown at first, and more at each press: a tree of ten thousand helps nobody. */
const PAGE = 200;
/** More bad lines than this say the same thing. */
const MOST_BAD = 50;

/** The packs of the workspace and how far the person has come with each task. */
export class TaskTree implements vscode.TreeDataProvider<TaskNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly progress = new Progress();
  private progressIsRead = false;
  private readonly shown = new Map<string, number>();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly packs: Packs,
    private readonly engine: Engine,
  ) {
    this.disposables = [
      this.changed,
      packs.onDidChange(() => this.changed.fire(undefined)),
      engine.onDidChangeLog((episodes) => void this.followLog(episodes)),
    ];
  }

  async getChildren(node?: TaskNode): Promise<TaskNode[]> {
    if (node === undefined) {
      const [packs] = await Promise.all([this.packs.all(), this.readProgress()]);
      return packs.map((pack) => ({ kind: 'pack', pack }));
    }
    if (node.kind !== 'pack') return [];
    const { pack } = node;
    const limit = this.shown.get(pack.file) ?? PAGE;
    const tasks = pack.tasks.slice(0, limit);
    return [
      ...pack.bad.slice(0, MOST_BAD).map((bad): TaskNode => ({ kind: 'bad', bad })),
      ...tasks.map((task): TaskNode => ({ kind: 'task', task })),
      ...(tasks.length < pack.tasks.length
        ? [{ kind: 'more', pack, shown: tasks.length } satisfies TaskNode]
        : []),
    ];
  }

  getTreeItem(node: TaskNode): vscode.TreeItem {
    switch (node.kind) {
      case 'pack':
        return this.packItem(node.pack);
      case 'task':
        return this.taskItem(node);
      case 'bad':
        return badItem(node.bad);
      case 'more':
        return moreItem(node);
    }
  }

  /** How far the newest dialogue about a task has come. */
  async state(task: string): Promise<TaskState> {
    await this.readProgress();
    return this.progress.state(task);
  }

  /** The first task of the pack after this one that nobody has played yet, from the beginning after the end. */
  async nextTask(file: string, after?: string): Promise<PackTask | undefined> {
    await this.readProgress();
    const pack = (await this.packs.all()).find((one) => one.file === file);
    if (pack === undefined) return undefined;
    const start = pack.tasks.findIndex((task) => task.id === after) + 1;
    const inOrder = [...pack.tasks.slice(start), ...pack.tasks.slice(0, start)];
    return inOrder.find((task) => task.id !== after && this.progress.state(task.id).kind === 'new');
  }

  showMore(pack: Pack): void {
    this.shown.set(pack.file, (this.shown.get(pack.file) ?? PAGE) + PAGE);
    this.changed.fire(undefined);
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async readProgress(): Promise<void> {
    if (this.progressIsRead) return;
    try {
      const log = await this.engine.logIfAny();
      if (log) this.progress.read(log);
      this.progressIsRead = true;
    } catch (error) {
      // The packs are shown all the same; without the log every task looks new, so the person is told.
      this.engine.show(error);
    }
  }

  private async followLog(episodes: readonly string[]): Promise<void> {
    const log = await this.engine.logIfAny();
    if (log === undefined) return;
    this.progress.update(log, episodes);
    this.progressIsRead = true;
    this.changed.fire(undefined);
  }

  private packItem(pack: Pack): vscode.TreeItem {
    const item = new vscode.TreeItem(pack.name, vscode.TreeItemCollapsibleState.Expanded);
    const counts = counted(pack.tasks.map((task) => this.progress.state(task.id)));
    const badLines =
      pack.bad.length === 0 ? '' : `${pack.bad.length} bad ${pack.bad.length === 1 ? 'line' : 'lines'}`;
    item.id = pack.file;
    item.description = [`${pack.tasks.length} tasks`, counts, badLines]
      .filter((part) => part !== '')
      .join(' · ');
    item.tooltip = vscode.workspace.asRelativePath(pack.file);
    item.contextValue = contextValues.pack;
    return item;
  }

  private taskItem(node: { readonly kind: 'task'; readonly task: PackTask }): vscode.TreeItem {
    const { task } = node;
    const state = this.progress.state(task.id);
    const words = stateWords(state, task.tests);
    const item = new vscode.TreeItem(task.title);
    item.id = `${task.pack}#${task.id}`;
    item.description = words;
    item.iconPath = stateIcon(state);
    item.contextValue = contextValues.task;
    item.tooltip = tooltip(task, words);
    item.accessibilityInformation = { label: `${task.title}, ${words || 'not played yet'}` };
    item.command = { command: commands.playTask, title: 'Play', arguments: [node] };
    return item;
  }
}

/** The shape tells the state; a colour only repeats whether all tests passed. */
function stateIcon(state: TaskState): vscode.ThemeIcon {
  switch (state.kind) {
    case 'new':
      return new vscode.ThemeIcon('circle-large');
    case 'draft':
      return new vscode.ThemeIcon('color-mode');
    case 'skipped':
      return new vscode.ThemeIcon('dash');
    case 'done':
      return new vscode.ThemeIcon(
        'circle-large-filled',
        state.reward === 1 ? new vscode.ThemeColor('testing.iconPassed') : undefined,
      );
  }
}

function tooltip(task: PackTask, words: string): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendText(task.description);
  text.appendMarkdown(`\n\n${task.tests} tests${words === '' ? '' : ` · ${words}`}`);
  return text;
}

function badItem({ file, line, reason }: BadLine): vscode.TreeItem {
  const item = new vscode.TreeItem(`Line ${line}`);
  item.description = reason;
  item.tooltip = `${path.basename(file)}, line ${line}: ${reason}`;
  item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  item.command = {
    command: 'vscode.open',
    title: 'Open the line',
    arguments: [vscode.Uri.file(file), { selection: at }],
  };
  return item;
}

function moreItem(node: { readonly pack: Pack; readonly shown: number }): vscode.TreeItem {
  const left = node.pack.tasks.length - node.shown;
  const item = new vscode.TreeItem(`Show ${Math.min(PAGE, left)} more`);
  item.description = `${left} not shown`;
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: commands.showMore, title: 'Show more', arguments: [node] };
  return item;
}
