import { config, t } from '@vscode/l10n';

/** As `vscode.l10n.t` in the extension host. */
export { t };

let spoken = 'en';

/** A tag for `Intl`: `de`. */
export const language = (): string => spoken;

/** Called once, before anything is drawn. @param sentences translations by English sentence, as JSON */
export function speak(displayLanguage: string, sentences: string): void {
  config({ contents: sentences });
  spoken = displayLanguage;
}
