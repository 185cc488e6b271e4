import { all, focusedViewIs, rowIs, viewIs, type Condition, type RowName, type ViewName } from './conditions';

/** Everything in the editor that leads a person to a command. Its title is in `package.nls.json`. */
export interface Place {
  /** Name of an icon of the product's set, where the command is a button. */
  readonly icon?: string;
  /** When the palette lists the command: `never` is for one that needs a row. */
  readonly palette: Condition | 'always' | 'never';
  readonly menus?: readonly MenuEntry[];
  /** Keys of the command. The palette and the buttons show the last one that works where the focus is. */
  readonly keys?: readonly KeyBinding[];
}

export interface MenuEntry {
  readonly menu: 'editor/context' | 'editor/title' | 'view/title' | 'view/item/context';
  readonly group: string;
  readonly when: Condition;
}

/** A key in the editor's notation, such as `ctrl+alt+f`, and the one that takes its place on a Mac. */
interface Keys {
  readonly key: string;
  readonly mac: string;
}

export interface KeyBinding extends Keys {
  readonly when: Condition;
  /** The command gets this in place of a row. */
  readonly args?: 'selected';
}

/** A group of a menu. Groups follow each other by name, their entries by the number after `@`. */
type Section = `${number}_${string}`;

/** Groups of buttons in a title, or behind the label of a row. */
type Navigation = 'navigation' | `navigation@${number}`;
type Inline = 'inline' | `inline@${number}`;

export const inTitle = (
  view: ViewName | readonly ViewName[],
  group: Navigation | Section,
  ...conditions: readonly Condition[]
): MenuEntry => ({ menu: 'view/title', group, when: all(viewIs([view].flat()), ...conditions) });

export const onRow = (
  row: RowName | readonly RowName[],
  group: Inline | Section,
  ...conditions: readonly Condition[]
): MenuEntry => ({ menu: 'view/item/context', group, when: all(rowIs([row].flat()), ...conditions) });

export const inEditorTitle = (
  group: Navigation | Section,
  ...conditions: readonly Condition[]
): MenuEntry => ({ menu: 'editor/title', group, when: all(...conditions) });

export const inText = (group: Section, ...conditions: readonly Condition[]): MenuEntry => ({
  menu: 'editor/context',
  group,
  when: all(...conditions),
});

/**
 * Keys that work wherever the focus is: two presses, of which the first is the editor's own prefix for such pairs. The
 * second one holds Ctrl (on a Mac ⌘) as well as Alt, because the page of a session takes digits and letters with Alt
 * for its own (`webview/session/keys.ts`). The editor has pairs of this form only with C, S and the arrows.
 */
export const anywhere = (letter: 'f' | 'n' | 'p' | 't', ...conditions: readonly Condition[]): KeyBinding => ({
  key: `ctrl+k ctrl+alt+${letter}`,
  mac: `cmd+k cmd+alt+${letter}`,
  when: all(...conditions),
});

/** A key that works only where a view has the focus, so that no other key of the editor is taken. */
export const inFocus = (view: ViewName, keys: Keys, ...conditions: readonly Condition[]): KeyBinding => ({
  ...keys,
  when: all(focusedViewIs(view), ...conditions),
});
