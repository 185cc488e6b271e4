import * as vscode from 'vscode';
import { grouped } from '../core/text';
import { idOf } from './contributions';
import type { views } from './contributions';

const { t } = vscode.l10n;

const MINUTE_MS = 60_000;

/** The rows of one of our views, and the view around them. */
export abstract class Tree<Node> implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly owned: { dispose(): unknown }[] = [this.changed];
  protected readonly view: vscode.TreeView<Node>;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    id: (typeof views)[keyof typeof views],
    options: Omit<vscode.TreeViewOptions<Node>, 'treeDataProvider'> = {},
  ) {
    this.view = vscode.window.createTreeView(id, { ...options, treeDataProvider: this });
    this.owns(this.view);
  }

  abstract getChildren(node?: Node): Promise<Node[]>;

  abstract getTreeItem(node: Node): vscode.TreeItem;

  /** The selected rows; the keyboard is on the first. */
  get selection(): readonly Node[] {
    return this.view.selection;
  }

  redraw(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    vscode.Disposable.from(...this.owned).dispose();
  }

  /** Registers things to dispose of with the view. */
  protected owns(...things: readonly { dispose(): unknown }[]): void {
    this.owned.push(...things);
  }

  /** Calls `work` each time that the view is seen again. */
  protected whenSeen(work: () => void): void {
    this.owns(
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) work();
      }),
    );
  }

  /** Calls `work` every minute while the view is seen, and when it is seen again, so that "5 min ago" stays true. */
  protected eachMinute(work: () => void): void {
    const timer = setInterval(() => {
      if (this.view.visible) work();
    }, MINUTE_MS);
    this.owns(new vscode.Disposable(() => clearInterval(timer)));
    this.whenSeen(work);
  }
}

/** A row that stands for the rows of a list which are not shown. */
export interface MoreRow {
  readonly kind: 'more';
  readonly shown: number;
  readonly total: number;
}

/** Makes the last row of a list, which shows the next ones when it is pressed. @param page number of rows of a press */
export function moreItem(row: MoreRow, page: number): vscode.TreeItem {
  const left = row.total - row.shown;
  const item = new vscode.TreeItem(t('Show {0} more', Math.min(page, left)));
  item.description = t('{0} not shown', grouped(left));
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: idOf('showMore'), title: t('Show more'), arguments: [row] };
  return item;
}
