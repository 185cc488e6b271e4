import { afterEach, beforeEach, expect, it, vi } from 'vitest';

vi.mock('vscode', () => import('./vscode'));
const { EventEmitter, TreeItem, window } = await import('./vscode');
const { rowsMeant, Tree } = await import('../../../src/editor/tree');

/** Makes a view with one row whose visibility the test sets. */
function opened() {
  const seen = new EventEmitter<{ visible: boolean }>();
  const ended = vi.fn();
  const view = { visible: true, selection: ['row'], onDidChangeVisibility: seen.event, dispose: ended };
  vi.spyOn(window, 'createTreeView').mockReturnValueOnce(view as never);
  let drawn = 0;
  class Rows extends Tree<string> {
    constructor() {
      super('tandem.tasks');
      this.eachMinute(() => this.redraw());
    }

    override children = () => Promise.resolve(['row']);
    override getTreeItem = (row: string) => new TreeItem(row) as never;
  }
  const tree = new Rows();
  tree.onDidChangeTreeData(() => (drawn += 1));
  const look = (visible: boolean): void => {
    view.visible = visible;
    seen.fire({ visible });
  };
  return { tree, view, look, ended, drawn: () => drawn };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('draws its rows anew every minute that it is seen, and when it is seen again, until it ends', () => {
  const { tree, look, ended, drawn } = opened();
  vi.advanceTimersByTime(120_000);
  expect(drawn()).toBe(2);
  look(false);
  vi.advanceTimersByTime(600_000);
  expect(drawn()).toBe(2);
  look(true);
  expect(drawn()).toBe(3);
  tree.dispose();
  expect(ended).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(600_000);
  look(true);
  expect(drawn()).toBe(3);
});

it('tells which rows are selected, also while the editor has forgotten them to draw them anew', async () => {
  vi.useRealTimers();
  const { tree, view } = opened();
  expect(await tree.selection()).toEqual(['row']);
  tree.redraw();
  view.selection = [];
  const asked = tree.selection();
  const rows = await tree.getChildren();
  view.selection = rows;
  expect(await asked).toEqual(['row']);
});

it('takes the rows of a menu, of a key or of the palette, and the selection where the editor has forgotten a row', async () => {
  const { tree } = opened();
  expect(await rowsMeant(tree, 'one', ['one', 'other'])).toEqual(['one', 'other']);
  expect(await rowsMeant(tree, 'one', undefined)).toEqual(['one']);
  expect(await rowsMeant(tree, 'selected', undefined)).toEqual(['row']);
  expect(await rowsMeant(tree, undefined, undefined)).toEqual(['row']);
  expect(await rowsMeant(tree, undefined, ['one', undefined])).toEqual(['row']);
});
