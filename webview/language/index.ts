import { config, t } from '@vscode/l10n';

/** A sentence in the display language: what `vscode.l10n.t` is in the extension host. */
export { t };

let spoken = 'en';

/** The display language, as `Intl` takes it: `de`. */
export const language = (): string => spoken;

/**
 * Said once, before anything is drawn.
 * @param sentences each by the English one, as JSON
 */
export function speak(displayLanguage: string, sentences: string): void {
  config({ contents: sentences });
  spoken = displayLanguage;
}
