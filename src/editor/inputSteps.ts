import * as vscode from 'vscode';
import { inOneLine } from '../core/text';

/**
 * Milliseconds that an answered input stays open when no other replaces it. If it closes before the next one opens, VS
 * Code gives the focus back to its earlier holder, such as a webview. That may take it after the next input has, and
 * typed text goes astray.
 */
const LINGERING = 80;

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
  /** Returns a sentence when the text is invalid. */
  readonly validate?: (text: string) => string | undefined;
}

export function askText(step: TextStep): Promise<Given<string>> {
  const input = vscode.window.createInputBox();
  const { title, step: number, totalSteps, prompt, value = '', placeholder, password = false } = step;
  Object.assign(input, { title, step: number, totalSteps, prompt, value, placeholder, password });
  return shown(input, (give) => [
    input.onDidChangeValue((text) => (input.validationMessage = undefinedWhileEmpty(text, step.validate))),
    input.onDidAccept(() => {
      input.validationMessage = step.validate?.(input.value);
      if (input.validationMessage === undefined) give(input.value.trim());
    }),
  ]);
}

function undefinedWhileEmpty(text: string, validate: TextStep['validate']): string | undefined {
  return text === '' ? undefined : validate?.(text);
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
  /** Called when the button of an item is pressed; returns the items after it. */
  readonly onButton?: (item: Item) => readonly Item[];
  readonly matchOnDescription?: boolean;
  readonly matchOnDetail?: boolean;
}

export async function pickOne<Item extends vscode.QuickPickItem>(step: PickStep<Item>): Promise<Given<Item>> {
  const given = await pick(step, { isSeveral: false });
  if (typeof given === 'string') return given;
  const [value] = given.value;
  return value === undefined ? 'cancelled' : { value };
}

/** Asks for any number of items, even none; `picked` items are ticked at first. */
export function pickSeveral<Item extends vscode.QuickPickItem>(
  step: PickStep<Item>,
): Promise<Given<readonly Item[]>> {
  return pick(step, { isSeveral: true });
}

function pick<Item extends vscode.QuickPickItem>(
  step: PickStep<Item>,
  { isSeveral }: { readonly isSeveral: boolean },
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

/** @throws the reason that `fail` was called with */
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
  /** Maximum number of characters. */
  readonly most: number;
}): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    ...options,
    validateInput: (typed) => (inOneLine(typed).length > most ? tooLong(most) : undefined),
  });
  return text === undefined ? undefined : inOneLine(text);
}

const tooLong = (most: number): string => t('Too long: write at most {0} characters.', most);
