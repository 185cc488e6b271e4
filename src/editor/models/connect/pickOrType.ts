import * as vscode from 'vscode';
import { shown, type Given, type Head } from '../../steps';

const { t } = vscode.l10n;

export interface OfferedText {
  readonly text: string;
  readonly description?: string;
}

export interface PickOrTypeStep extends Head {
  readonly placeholder: string;
  readonly value?: string;
  /** What can be picked, and what to say above it when it is there. */
  readonly offers: Promise<{ readonly items: readonly OfferedText[]; readonly placeholder?: string }>;
  /** A sentence when a text that was typed will not do. */
  readonly validate?: (text: string) => string | undefined;
}

type TextItem = vscode.QuickPickItem & { readonly text: string; readonly problem?: string };

/** Offers texts, and takes any other that is typed. */
export function pickOrType(step: PickOrTypeStep): Promise<Given<string>> {
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
    : {
        label: `$(error) ${t('“{0}” cannot be used', text)}`,
        detail: problem,
        problem,
        text,
        alwaysShow: true,
      };
}
