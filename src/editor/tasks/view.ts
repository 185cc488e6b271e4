import * as vscode from 'vscode';
import { contextKeys, views } from '../contributions';
import type { PackDrop } from './adding/drop';
import { filterWords } from './filter';
import type { TaskNode, TaskTree } from './tree';

const { t } = vscode.l10n;

/** The Tasks view around its tree: takes drops, and says that a filter is on. */
export class TasksView implements vscode.Disposable {
  private readonly view: vscode.TreeView<TaskNode>;
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly tree: TaskTree,
    drop: PackDrop,
    private readonly report: (error: unknown) => void,
  ) {
    this.view = vscode.window.createTreeView(views.tasks, {
      treeDataProvider: tree,
      dragAndDropController: drop,
    });
    const changed = tree.onDidChangeTreeData(() => void this.showFilter().catch(this.report));
    this.disposables = [this.view, changed];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async showFilter(): Promise<void> {
    const { filter } = this.tree;
    await vscode.commands.executeCommand('setContext', contextKeys.tasksAreFiltered, filter !== undefined);
    if (filter === undefined) {
      this.view.message = undefined;
      return;
    }
    const { shown, total } = await this.tree.counts();
    this.view.message = t('Filter: {0}. {1} of {2} tasks are shown.', filterWords(filter), shown, total);
  }
}
