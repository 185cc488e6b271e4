import * as vscode from 'vscode';
import { shown, type Given, type Head } from '../../steps';

const { t } = vscode.l10n;

export interface OfferedText {
  readonly text: string;
  readonly description?: string;
}

interface PickOrTypeStep extends Head {
  readonly placeholder: string;
  readonly value?: string;
  /** The texts to pick from, and the placeholder to show once they have arrived. */
  readonly offers: Promise<{ readonly items: readonly OfferedText[]; readonly placeholder?: string }>;
  /** Returns a sentence when a typed text is invalid. */
  readonly validate?: (text: string) => string | undefined;
}

type TextItem = vscode.QuickPickItem & { readonly text: string; readonly problem?: string };

/** Offers texts, and accepts any other that is typed. */
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
    // An invalid text may be the beginning of an offered one.
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
