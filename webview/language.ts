/** Translations, which the host puts into the page, and numbers in the display language. */
import { config, t } from '@vscode/l10n';
import { sentencesId } from './ui/protocol';

/** As `vscode.l10n.t` in the extension host. */
export { t };

let spoken = 'en';

/** A tag for `Intl`: `de`. */
export const language = (): string => spoken;

/** @param sentences translations by English sentence, as JSON */
export function speak(displayLanguage: string, sentences: string): void {
  config({ contents: sentences });
  spoken = displayLanguage;
}

interface TranslatedPage {
  readonly documentElement: { readonly lang: string };
  getElementById(id: string): { readonly textContent: string } | null;
}

// Before any other module of the page, so that these can translate sentences in their constants. Tests have no page.
const { document: page } = globalThis as { readonly document?: TranslatedPage };
const sentences = page?.getElementById(sentencesId)?.textContent;
if (page !== undefined && sentences !== undefined) speak(page.documentElement.lang, sentences);

/** `1,204` */
export const grouped = (number: number): string => number.toLocaleString(language());

/** Without grouping: `4.0`. */
export function decimal(number: number, digits: number): string {
  return Number(number.toFixed(digits)).toLocaleString(language(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  });
}

/** `3, 5, 9` */
export function enumerated(numbers: readonly number[]): string {
  return new Intl.ListFormat(language(), { type: 'unit', style: 'short' }).format(numbers.map(String));
}

/** With a minus sign in place of the hyphen: `−0.50`. */
export const withMinus = (number: number, digits: number): string =>
  decimal(number, digits).replace('-', '−');
