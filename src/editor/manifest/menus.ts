import {
  contextKeys,
  contextValues,
  panelTypes,
  views,
  type PageName,
  type answerScheme,
  type exportScheme,
} from '../contributions';

// Conditions of the manifest ("when clauses"), made from the names that the code uses: a mistyped one does not compile.
// Nothing of this folder is part of the bundle.

declare const made: unique symbol;

export type Condition = string & { readonly [made]: true };

export type ViewName = keyof typeof views;

export type RowName = keyof typeof contextValues;

/** Context keys whose value is a list of addresses; the others are true or false. */
type ListKey = 'runFiles' | 'breakingAnswers';

type FlagKey = Exclude<keyof typeof contextKeys, ListKey>;

type EditorKey =
  | 'inputFocus'
  | 'isWorkspaceTrusted'
  | 'isWorkspaceTrustEnabled'
  | 'listDoubleSelection'
  | 'listFocus'
  | 'listMultiSelection';

const condition = (text: string): Condition => text as Condition;

export const all = (...conditions: readonly Condition[]): Condition =>
  condition(conditions.map((one) => (one.includes(' || ') ? `(${one})` : one)).join(' && '));

export const either = (...conditions: readonly Condition[]): Condition => condition(conditions.join(' || '));

export const not = (denied: Condition): Condition =>
  condition(denied.includes(' ') ? `!(${denied})` : `!${denied}`);

export const IN_FOLDER = condition('workspaceFolderCount > 0');
export const WITHOUT_FOLDER = condition('workspaceFolderCount == 0');

export const editor = (key: EditorKey): Condition => condition(key);

export const isSet = (key: FlagKey): Condition => condition(contextKeys[key]);

export const resourceIsIn = (key: ListKey): Condition => condition(`resource in ${contextKeys[key]}`);

export const viewIs = (names: readonly ViewName[]): Condition =>
  isOneOf(
    'view',
    names.map((name) => views[name]),
  );

export const rowIs = (names: readonly RowName[]): Condition =>
  isOneOf(
    'viewItem',
    names.map((name) => contextValues[name]),
  );

export const focusedViewIs = (name: ViewName): Condition => condition(`focusedView == '${views[name]}'`);

export const panelIs = (page: PageName): Condition =>
  condition(`activeWebviewPanelId == '${panelTypes[page]}'`);

export const languageIs = (...languages: readonly ('python' | 'json' | 'jsonc')[]): Condition =>
  isOneOf('editorLangId', languages);

export const schemeIs = (
  ...schemes: readonly (typeof answerScheme | typeof exportScheme | 'file' | 'vscode-remote')[]
): Condition => isOneOf('resourceScheme', schemes);

const PREFIX = 'tandem.';

/** The context key has one of these values; Tandem's own all begin with the same prefix. */
function isOneOf(key: string, values: readonly string[]): Condition {
  if (values.length === 1) return condition(`${key} == ${values.join('')}`);
  const isOwn = values.every((value) => value.startsWith(PREFIX));
  const names = values.map((value) => (isOwn ? value.slice(PREFIX.length) : value)).join('|');
  return condition(`${key} =~ /^${isOwn ? 'tandem\\.' : ''}(${names})$/`);
}

/** Everything in the editor that leads a person to a command. Its title is in `package.nls.json`. */
export interface Place {
  /** Name of an icon of the product's set, where the command is a button. */
  readonly icon?: string;
  /** When the palette lists the command; absent for one that needs a row. */
  readonly palette?: Condition | 'always';
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
