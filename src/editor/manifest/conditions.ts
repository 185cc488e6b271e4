import { contextKeys, contextValues, panelTypes, views, type PageName } from '../contributions';
import type { answerScheme, exportScheme } from '../contributions';

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
