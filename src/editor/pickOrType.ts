import * as vscode from 'vscode';
import { withVisibleControls } from '../../webview/dialogue/protocol';
import { inOneLine, listIn } from '../core/text';
import { shown, type Given, type Head, valueOf } from './inputSteps';
import { MAX_LENGTHS } from '../core/training/runNotes';

export interface KnownWord {
  readonly word: string;
  readonly description: string;
  readonly isPicked: boolean;
}

interface Question extends Head {
  readonly placeholder: string;
  readonly known: readonly KnownWord[];
  readonly label: (word: string) => string;
  /** This stands beside a word that is not known. */
  readonly unknown: string;
  /** Returns what is wrong with the words that a person typed, in a sentence. */
  readonly refuse: (words: readonly string[]) => string | undefined;
}

interface Row extends vscode.QuickPickItem {
  /** Absent in a row that says what is wrong with a typed word. */
  readonly word?: string;
}

/** Asks for words: known ones are ticked, and what is typed with commas between becomes new ones. */
export async function pickOrType(question: Question): Promise<Given<readonly string[]>> {
  const list = vscode.window.createQuickPick<Row>();
  const { title, step, totalSteps, placeholder } = question;
  Object.assign(list, { title, step, totalSteps, placeholder, canSelectMany: true });
  const known = question.known.map(({ word, description, isPicked }): Row => ({
    ...{ label: question.label(withVisibleControls(word)), description, word, picked: isPicked },
  }));
  list.items = known;
  list.selectedItems = known.filter(({ picked }) => picked);
  let ticked = list.selectedItems;
  /** New words that a person has unticked. */
  const unticked = new Set<string>();
  let wrong: string | undefined;
  let before: readonly Row[] = [];
  const typed = (text: string): void => {
    const words = wordsIn(text).filter((word) => !question.known.some((one) => one.word === word));
    wrong = question.refuse(words);
    const added = words.map((word): Row => ({
      ...{ label: `$(add) ${question.label(word)}`, description: question.unknown, word, alwaysShow: true },
    }));
    const rows = wrong === undefined ? added : [{ label: wrong, alwaysShow: true }];
    // A tick that comes at the moment when the rows are set would be lost.
    if (isSame(rows, before)) return;
    before = rows;
    list.items = [...before, ...known];
    list.selectedItems = [
      ...before.filter(({ word }) => word !== undefined && !unticked.has(word)),
      ...ticked,
    ];
  };
  const select = (items: readonly Row[]): void => {
    ticked = items.filter((item) => known.includes(item));
    for (const row of before) {
      if (row.word === undefined) continue;
      if (items.includes(row)) unticked.delete(row.word);
      else unticked.add(row.word);
    }
  };
  const given = await shown<readonly Row[]>(list, (give) => [
    list.onDidChangeSelection(select),
    list.onDidChangeValue(typed),
    list.onDidAccept(() => {
      if (wrong === undefined) give(list.selectedItems);
    }),
  ]);
  if (typeof given === 'string') return given;
  return { value: given.value.flatMap(({ word }) => (word === undefined ? [] : [word])) };
}

const isSame = (rows: readonly Row[], others: readonly Row[]): boolean =>
  rows.length === others.length && rows.every(({ label }, index) => label === others[index]?.label);

const wordsIn = (text: string): string[] => [...new Set(listIn(inOneLine(text), ','))];

const { t } = vscode.l10n;

/**
 * Tags that only some of the tagged have stay as they are.
 * @returns the tags of one of them, by those that it had; undefined when the person cancelled
 */
export async function pickTags(
  title: string,
  known: readonly KnownWord[],
): Promise<((before: readonly string[]) => string[]) | undefined> {
  const given = await pickOrType({
    ...{ title, known, label: (tag) => `#${tag}`, unknown: t('new'), refuse: wrongTags },
    placeholder: t('Select tags, or type new ones with commas between them'),
  });
  const picked = valueOf(given);
  if (picked === undefined) return undefined;
  const gone = known.flatMap(({ word, isPicked }) => (isPicked && !picked.includes(word) ? [word] : []));
  return (before) =>
    [...new Set([...before.filter((tag) => !gone.includes(tag)), ...picked])].slice(0, MAX_LENGTHS.tags);
}

function wrongTags(tags: readonly string[]): string | undefined {
  if (tags.length > MAX_LENGTHS.tags) return t('Too many: write at most {0} tags.', MAX_LENGTHS.tags);
  const long = tags.find((tag) => tag.length > MAX_LENGTHS.tag);
  return long === undefined ? undefined : t('Too long, at most {0} characters: “{1}”', MAX_LENGTHS.tag, long);
}
