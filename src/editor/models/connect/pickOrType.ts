import * as vscode from 'vscode';
import { shown, type Given, type Head } from '../../inputSteps';

const { t } = vscode.l10n;

export interface OfferedText {
  readonly text: string;
  /** Shown in place of the text. */
  readonly label?: string;
  readonly description?: string;
  readonly detail?: string;
  /** Heading above adjacent offers of the group. */
  readonly group?: string;
  /** Not filtered by the typed text. */
  readonly alwaysShow?: boolean;
}

interface PickOrTypeStep<Offer extends OfferedText> extends Head {
  readonly placeholder: string;
  readonly value?: string;
  readonly items?: readonly Offer[];
  /** They replace `items`, with another placeholder. */
  readonly later: Promise<{ readonly items: readonly Offer[]; readonly placeholder?: string }>;
  /** Returns a sentence when the text is invalid. */
  readonly validate?: (text: string) => string | undefined;
}

type TextItem<Offer> = vscode.QuickPickItem & {
  readonly offer?: Offer | { readonly text: string };
};

/** Accepts any other text that is typed. */
export function pickOrType<Offer extends OfferedText>(
  step: PickOrTypeStep<Offer>,
): Promise<Given<Offer | { readonly text: string }>> {
  const pick = vscode.window.createQuickPick<TextItem<Offer>>();
  const { title, step: number, totalSteps, placeholder, value = '' } = step;
  Object.assign(pick, { title, step: number, totalSteps, placeholder, value, busy: true });
  let offers = step.items ?? [];
  const show = (): void => {
    const listed = grouped(offers);
    const typed = pick.value.trim();
    if (typed === '' || offers.some(({ text }) => text === typed)) {
      pick.items = listed;
      return;
    }
    const problem = step.validate?.(typed);
    const item = typedItem(typed, problem);
    // An invalid text may be the beginning of an offered one.
    pick.items = problem === undefined ? [item, ...listed] : [...listed, item];
  };
  pick.matchOnDescription = true;
  show();
  return shown(pick, (give, fail) => {
    step.later.then((later) => {
      offers = later.items;
      pick.placeholder = later.placeholder ?? placeholder;
      pick.busy = false;
      show();
    }, fail);
    return [
      pick.onDidChangeValue(show),
      pick.onDidAccept(() => {
        const offer = pick.activeItems[0]?.offer;
        if (offer !== undefined) give(offer);
      }),
    ];
  });
}

function grouped<Offer extends OfferedText>(offers: readonly Offer[]): TextItem<Offer>[] {
  return offers.flatMap((offer, index) => {
    const { text, label = text, description, detail, alwaysShow, group } = offer;
    const begins = group !== undefined && group !== offers[index - 1]?.group;
    return [
      ...(begins ? [{ label: group, kind: vscode.QuickPickItemKind.Separator }] : []),
      { label, description, detail, alwaysShow, offer },
    ];
  });
}

function typedItem(text: string, problem: string | undefined): TextItem<never> {
  return problem === undefined
    ? { label: `$(edit) ${t('Use “{0}”', text)}`, offer: { text }, alwaysShow: true }
    : { label: `$(error) ${t('“{0}” cannot be used', text)}`, detail: problem, alwaysShow: true };
}
