import { setTimeout as wait } from 'node:timers/promises';
import * as vscode from 'vscode';
import { grouped } from '../core/text';
import { idOf, type views } from './contributions';
import { Owner } from './background';

const { t } = vscode.l10n;

const MINUTE_MS = 60_000;
/** Milliseconds without a question for rows, after which those below an open row are drawn as well. */
const DRAWN_AFTER_MS = 100;

export abstract class Tree<Node> extends Owner implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  protected readonly view: vscode.TreeView<Node>;

  /** True until the editor asks for rows that have changed. */
  private isStale = false;
  /** Number of questions for rows that are not answered, and when the last was (ms since the epoch). */
  private asked = 0;
  private answeredAt = 0;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    id: (typeof views)[keyof typeof views],
    options: Omit<vscode.TreeViewOptions<Node>, 'treeDataProvider'> = {},
  ) {
    super();
    this.view = vscode.window.createTreeView(id, { ...options, treeDataProvider: this });
    this.owns(this.changed, this.view);
  }

  protected abstract children(node?: Node): Promise<Node[]>;

  abstract getTreeItem(node: Node): vscode.TreeItem;

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) this.isStale = false;
    this.asked += 1;
    try {
      return await this.children(node);
    } finally {
      this.asked -= 1;
      this.answeredAt = Date.now();
    }
  }

  /** While rows are redrawn the editor says that nothing is selected, so this waits until they are drawn. */
  async selection(): Promise<readonly Node[]> {
    while (this.view.visible && this.isBeingDrawn) await wait(DRAWN_AFTER_MS);
    return this.view.selection;
  }

  private get isBeingDrawn(): boolean {
    return this.isStale || this.asked > 0 || Date.now() - this.answeredAt < DRAWN_AFTER_MS;
  }

  redraw(): void {
    this.isStale = true;
    this.changed.fire(undefined);
  }

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

/**
 * The rows selected with the command's row. A key of the list passes `selected` in place of a row, and the palette
 * nothing: both mean the selection. When some rows are unknown, because they are being redrawn, the selection is read
 * again.
 */
export async function rowsMeant<Row>(
  tree: { readonly selection: () => Promise<readonly Row[]> },
  row: Row | 'selected' | undefined,
  selected: readonly (Row | undefined)[] | undefined,
): Promise<readonly Row[]> {
  if (selected !== undefined) {
    const known = selected.filter((one) => one !== undefined);
    return known.length < selected.length ? tree.selection() : known;
  }
  return row === undefined || row === 'selected' ? tree.selection() : [row];
}

/** The last row of a list that is not shown whole. */
export interface MoreRow {
  readonly kind: 'more';
  readonly shown: number;
  readonly total: number;
}

/** @param page number of rows that a press shows */
export function moreItem(row: MoreRow, page: number): vscode.TreeItem {
  const left = row.total - row.shown;
  const item = new vscode.TreeItem(t('Show {0} more', Math.min(page, left)));
  item.description = t('{0} not shown', grouped(left));
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: idOf('showMore'), title: t('Show more'), arguments: [row] };
  return item;
}

/** `MarkdownString.appendText` is not used: it makes each space non-breaking, so that long lines break within words. */
export function tooltip(heading: string, paragraphs: readonly string[]): vscode.MarkdownString {
  const head = heading === '' ? [] : [`**${literal(heading)}**`];
  return new vscode.MarkdownString([...head, ...paragraphs.map(literal)].join('\n\n'));
}

/** A backslash may precede any punctuation (CommonMark 0.31, 2.4). */
const literal = (text: string): string =>
  text
    .replace(/[!-/:-@[-`{-~]/g, String.raw`\$&`)
    .replace(/^ +/gm, (spaces) => '&nbsp;'.repeat(spaces.length))
    .replaceAll('\n', '\\\n');
