import * as vscode from 'vscode';
import { inOneLine, listIn } from '../core/text';
import { withVisibleControls } from '../../webview/dialogue/protocol';
import type { ConsentSignal } from '../core/trajectory/event';
import type { AskedConsent } from './consent';
import { idOf } from './contributions';
import { loggedReason } from './reasons';
import { MAX_LENGTHS } from '../core/training/runNotes';

/**
 * Milliseconds that an answered input stays open when no other replaces it. If it closes before the next one opens, VS
 * Code gives the focus back to its earlier holder, such as a webview. That may take it after the next input has, and
 * typed text goes astray.
 */
const LINGERING = 80;

/** Undefined when the person cancelled. */
export async function pickFolder(
  title: string,
  openLabel: string,
  defaultUri?: vscode.Uri,
): Promise<vscode.Uri | undefined> {
  const options = { title, openLabel, defaultUri, canSelectFiles: false, canSelectFolders: true };
  return (await vscode.window.showOpenDialog(options))?.[0];
}

export type Given<T> = { readonly value: T } | 'back' | 'cancelled';

export const valueOf = <T>(given: Given<T>): T | undefined =>
  typeof given === 'string' ? undefined : given.value;

export interface Head {
  readonly title: string;
  readonly step?: number;
  readonly totalSteps?: number;
}

interface TextStep extends Head {
  readonly prompt: string;
  readonly value?: string;
  readonly placeholder?: string;
  readonly password?: boolean;
  readonly validate?: (text: string) => string | undefined;
}

export function askText(step: TextStep): Promise<Given<string>> {
  const input = vscode.window.createInputBox();
  const { title, step: number, totalSteps, prompt, value = '', placeholder, password = false } = step;
  Object.assign(input, { title, step: number, totalSteps, prompt, value, placeholder, password });
  return shown(input, (give) => [
    input.onDidChangeValue(
      (text) => (input.validationMessage = text === '' ? undefined : step.validate?.(text)),
    ),
    input.onDidAccept(() => {
      input.validationMessage = step.validate?.(input.value);
      if (input.validationMessage === undefined) give(input.value.trim());
    }),
  ]);
}

export async function askWhole({
  most,
  value,
  ...step
}: Omit<TextStep, 'value' | 'validate'> & {
  readonly value: number;
  readonly most: number;
}): Promise<Given<number>> {
  const isOne = (text: string): boolean => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most;
  const given = await askText({
    ...step,
    value: String(value),
    validate: (text) =>
      isOne(text.trim()) ? undefined : vscode.l10n.t('Enter a whole number from 1 to {0}.', most),
  });
  return typeof given === 'string' ? given : { value: Number(given.value) };
}

interface PickStep<Item extends vscode.QuickPickItem> extends Head {
  readonly placeholder?: string;
  /** While a promise is pending, the list shows that it is busy. */
  readonly items: readonly Item[] | Promise<readonly Item[]>;
  readonly active?: (item: Item) => boolean;
  readonly onButton?: (item: Item) => readonly Item[];
  readonly matchOnDescription?: boolean;
  readonly matchOnDetail?: boolean;
}

export async function pickOne<Item extends vscode.QuickPickItem>(step: PickStep<Item>): Promise<Given<Item>> {
  const given = await pick(step, false);
  return typeof given === 'string' ? given : { value: given.value[0]! };
}

/** Asks for any number of items, even none; `picked` items are ticked at first. */
export const pickSeveral = <Item extends vscode.QuickPickItem>(
  step: PickStep<Item>,
): Promise<Given<readonly Item[]>> => pick(step, true);

function pick<Item extends vscode.QuickPickItem>(
  step: PickStep<Item>,
  isSeveral: boolean,
): Promise<Given<readonly Item[]>> {
  const list = vscode.window.createQuickPick<Item>();
  const { title, step: number, totalSteps, placeholder, items, active, onButton } = step;
  const { matchOnDescription = false, matchOnDetail = false } = step;
  Object.assign(list, { title, step: number, totalSteps, placeholder, matchOnDescription, matchOnDetail });
  list.canSelectMany = isSeveral;
  const fill = (all: readonly Item[]): void => {
    list.busy = false;
    list.items = all;
    if (isSeveral) list.selectedItems = all.filter(({ picked }) => picked);
    if (active !== undefined) list.activeItems = all.filter(active);
  };
  return shown(list, (give, fail) => {
    if (items instanceof Promise) {
      list.busy = true;
      items.then(fill, fail);
    } else fill(items);
    return [
      list.onDidAccept(() => {
        if (!list.busy && (isSeveral || list.selectedItems.length > 0)) give(list.selectedItems);
      }),
      list.onDidTriggerItemButton(({ item }) => {
        if (onButton !== undefined) fill(onButton(item));
      }),
    ];
  });
}

export function shown<T>(
  input: vscode.QuickInput & { buttons: readonly vscode.QuickInputButton[] } & Pick<
      vscode.InputBox,
      'onDidTriggerButton'
    >,
  listen: (give: (value: T) => void, fail: (reason: unknown) => void) => vscode.Disposable[],
): Promise<Given<T>> {
  return new Promise((resolve, reject) => {
    const registrations: vscode.Disposable[] = [];
    const leave = (lingering: number): void => {
      vscode.Disposable.from(...registrations).dispose();
      if (lingering === 0) input.dispose();
      else setTimeout(() => input.dispose(), lingering);
    };
    const end = (given: Given<T>): void => {
      leave(given === 'cancelled' ? 0 : LINGERING);
      resolve(given);
    };
    registrations.push(
      input.onDidTriggerButton((button) => {
        if (button === vscode.QuickInputButtons.Back) end('back');
      }),
      input.onDidHide(() => end('cancelled')),
      ...listen(
        (value) => end({ value }),
        (reason) => {
          leave(0);
          reject(reason instanceof Error ? reason : new Error(String(reason)));
        },
      ),
    );
    input.ignoreFocusOut = true;
    if ((input.step ?? 1) > 1) input.buttons = [vscode.QuickInputButtons.Back];
    input.show();
  });
}

export type StepPosition = Required<Pick<Head, 'step' | 'totalSteps'>>;

export type Step = (place: StepPosition) => Promise<Given<unknown>>;

export const taking =
  <T>(ask: (place: StepPosition) => Promise<Given<T>>, take: (value: T) => void): Step =>
  async (place) => {
    const given = await ask(place);
    if (typeof given !== 'string') take(given.value);
    return given;
  };

/** @returns false when the person cancelled, or went back from the first step */
export async function runSteps(stepsOf: readonly Step[] | (() => readonly Step[])): Promise<boolean> {
  for (let at = 0; ;) {
    const steps = typeof stepsOf === 'function' ? stepsOf() : stepsOf;
    const step = steps[at];
    if (step === undefined) return true;
    const given = await step({ step: at + 1, totalSteps: steps.length });
    if (given === 'cancelled') return false;
    at += given === 'back' ? -1 : 1;
    if (at < 0) return false;
  }
}

const { t } = vscode.l10n;

export async function askLine({
  most,
  ...options
}: {
  readonly title: string;
  readonly prompt: string;
  readonly value: string;
  readonly most: number;
}): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    ...options,
    validateInput: (typed) => validateLength(typed, most),
  });
  return text === undefined ? undefined : inOneLine(text);
}

const validateLength = (text: string, most: number): string | undefined =>
  inOneLine(text).length > most ? t('Too long: write at most {0} characters.', most) : undefined;

export interface KnownWord {
  readonly word: string;
  readonly description: string;
  readonly isPicked: boolean;
}

interface Question extends Head {
  readonly placeholder: string;
  readonly known: readonly KnownWord[];
  readonly label: (word: string) => string;
  readonly unknown: string;
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

/** Asks for one of some reasons, or another that is typed. @returns as it is logged; undefined on cancel */
export async function askReason(title: string, reasons: readonly string[]): Promise<string | undefined> {
  const other = t('Another reason…');
  const prompt = t('Why? The reason is logged.');
  const items = [...reasons, other].map((label) => ({ label }));
  const chosen = valueOf(await pickOne({ title, placeholder: prompt, items }))?.label;
  const validate = (text: string): string | undefined => validateLength(text, MAX_LENGTHS.note);
  const reason = chosen === other ? valueOf(await askText({ title, prompt, validate })) : chosen;
  return reason === undefined || reason === '' ? undefined : loggedReason(inOneLine(reason), t);
}

export function acceptedRow<Row extends vscode.QuickPickItem>(
  picker: vscode.QuickPick<Row>,
  canBeChosen: (row: Row) => boolean,
): Promise<Row | undefined> {
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      const [row] = picker.selectedItems;
      if (row !== undefined && canBeChosen(row)) resolve(row);
    });
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
}

/** A row without a value says something about the others. */
export type SearchedRow<Value> = vscode.QuickPickItem & { readonly value?: Value };

/** Asks for a row of a list that is made anew for each text that is typed. */
export async function pickSearched<Value>(
  head: { readonly title: string; readonly placeholder: string },
  rowsOf: (query: string) => readonly SearchedRow<Value>[],
): Promise<Value | undefined> {
  const picker = vscode.window.createQuickPick<SearchedRow<Value>>();
  Object.assign(picker, { ...head, matchOnDescription: true, matchOnDetail: true, items: rowsOf('') });
  picker.onDidChangeValue((query) => (picker.items = rowsOf(query)));
  try {
    return (await acceptedRow(picker, ({ value }) => value !== undefined))?.value;
  } finally {
    picker.dispose();
  }
}

/** A person without consent is asked for it first. @param why a sentence that says what is logged */
export async function askPseudonym(
  engine: { readonly consent: AskedConsent },
  why: string,
): Promise<string | undefined> {
  const { given } = engine.consent;
  if (given !== undefined) return given.pseudonym;
  const choose = t('Choose…');
  const answer = await vscode.window.showInformationMessage(why, choose);
  if (answer !== choose) return undefined;
  await vscode.commands.executeCommand(idOf('changeConsent'));
  return engine.consent.given?.pseudonym;
}

export const signalQuestions = {
  edits: t('May your edits of suggested replies train models, too?'),
  outcomes: t(
    'May what becomes of answers in your own files train models, too: taken, rejected, how much stays?',
  ),
  'own-code': t('May dialogues about your own code train your own models?'),
} as const satisfies Record<ConsentSignal, string>;

/**
 * An earlier consent did not name it. It is asked once; “Later” is asked again the next time.
 * @param more what the person has to know besides
 * @returns false if it was not asked now
 */
export async function askSignal(
  consent: Pick<AskedConsent, 'given' | 'answerTo' | 'answer'>,
  signal: ConsentSignal,
  more = '',
): Promise<boolean> {
  const asked = consent.given?.pseudonym;
  if (asked === undefined || consent.answerTo(signal) !== undefined) return false;
  const [yes, no] = [t('Yes'), t('No')];
  const question = `${signalQuestions[signal]} ${more}`.trim();
  const pressed = await vscode.window.showInformationMessage(question, yes, no, t('Later'));
  const isAnswered = pressed === yes || pressed === no;
  // Another person may have taken over while the message stood there.
  if (isAnswered && consent.given?.pseudonym === asked) await consent.answer(signal, pressed === yes);
  return true;
}

/** Not awaited, because a message stays until the person has read it. */
export const inform = (sentence: string): void => void vscode.window.showInformationMessage(sentence);
