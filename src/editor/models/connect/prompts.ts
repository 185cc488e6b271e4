import * as vscode from 'vscode';

const { t } = vscode.l10n;

/** What a person did with a step: gave a value, went back to the step before, or gave up. */
export type Given<T> = { readonly value: T } | 'back' | 'cancelled';

/** What the head of a step says. */
export interface Head {
  readonly title: string;
  readonly step?: number;
  readonly totalSteps?: number;
}

export interface TextStep extends Head {
  readonly prompt: string;
  readonly value?: string;
  readonly placeholder?: string;
  readonly password?: boolean;
  /** A sentence when the text will not do. */
  readonly validate?: (text: string) => string | undefined;
}

/** Asks for a line of text. */
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

/** One that has not been begun needs no reproof. */
function undefinedWhileEmpty(text: string, validate: TextStep['validate']): string | undefined {
  return text === '' ? undefined : validate?.(text);
}

export interface OfferedText {
  readonly text: string;
  readonly description?: string;
}

export interface PickStep extends Head {
  readonly placeholder: string;
  readonly value?: string;
  /** What can be picked, and what to say above it when it is there. */
  readonly offers: Promise<{ readonly items: readonly OfferedText[]; readonly placeholder?: string }>;
  /** A sentence when a text that was typed will not do. */
  readonly validate?: (text: string) => string | undefined;
}

type TextItem = vscode.QuickPickItem & { readonly text: string; readonly problem?: string };

/** Offers texts, and takes any other that is typed. */
export function pickOrType(step: PickStep): Promise<Given<string>> {
  const pick = vscode.window.createQuickPick<TextItem>();
  const { title, step: number, totalSteps, placeholder, value = '' } = step;
  Object.assign(pick, { title, step: number, totalSteps, placeholder, value, busy: true });
  let offers: readonly OfferedText[] = [];
  const show = (): void => {
    const listed = offers.map(({ text, description }) => ({ label: text, text, description }));
    const typed = pick.value.trim();
    if (typed === '' || offers.some(({ text }) => text === typed)) {
      pick.items = listed;
      return;
    }
    const item = typedItem(typed, step.validate?.(typed));
    // What will not do may be the beginning of something that is offered.
    pick.items = item.problem === undefined ? [item, ...listed] : [...listed, item];
  };
  pick.matchOnDescription = true;
  show();
  void step.offers.then((offered) => {
    offers = offered.items;
    pick.placeholder = offered.placeholder ?? placeholder;
    pick.busy = false;
    show();
  });
  return shown(pick, (give) => [
    pick.onDidChangeValue(show),
    pick.onDidAccept(() => {
      const [chosen] = pick.activeItems;
      if (chosen !== undefined && chosen.problem === undefined) give(chosen.text);
    }),
  ]);
}

function typedItem(text: string, problem: string | undefined): TextItem {
  return problem === undefined
    ? { label: `$(edit) ${t('Use “{0}”', text)}`, text, alwaysShow: true }
    : { label: `$(error) ${t('“{0}” will not do', text)}`, detail: problem, problem, text, alwaysShow: true };
}

/** Shows an input until a value is given or the person leaves it. */
export function shown<T>(
  input: vscode.QuickInput & { buttons: readonly vscode.QuickInputButton[] } & Pick<
      vscode.InputBox,
      'onDidTriggerButton'
    >,
  listen: (give: (value: T) => void) => vscode.Disposable[],
): Promise<Given<T>> {
  return new Promise((resolve) => {
    const end = (given: Given<T>): void => {
      resolve(given);
      input.dispose();
      vscode.Disposable.from(...registrations).dispose();
    };
    const registrations = [
      ...listen((value) => end({ value })),
      input.onDidTriggerButton((button) => {
        if (button === vscode.QuickInputButtons.Back) end('back');
      }),
      input.onDidHide(() => end('cancelled')),
    ];
    input.ignoreFocusOut = true;
    if ((input.step ?? 1) > 1) input.buttons = [vscode.QuickInputButtons.Back];
    input.show();
  });
}

/** One step; it takes what it is given to where it belongs. */
export type Step = (head: { readonly step: number; readonly totalSteps: number }) => Promise<Given<unknown>>;

/** Goes through steps, forth and back. False when the person gave up, or went back from the first. */
export async function runSteps(steps: readonly Step[]): Promise<boolean> {
  for (let at = 0; at < steps.length;) {
    const given = await steps[at]!({ step: at + 1, totalSteps: steps.length });
    if (given === 'cancelled') return false;
    at += given === 'back' ? -1 : 1;
    if (at < 0) return false;
  }
  return true;
}
