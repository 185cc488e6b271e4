import { config, t } from '@vscode/l10n';

/** Translates a sentence into the display language, as `vscode.l10n.t` does in the extension host. */
export { t };

let spoken = 'en';

/** Returns the display language as a tag for `Intl`: `de`. */
export const language = (): string => spoken;

/**
 * Sets the display language; called once, before anything is drawn.
 * @param sentences translations by their English sentences, as JSON
 */
export function speak(displayLanguage: string, sentences: string): void {
  config({ contents: sentences });
  spoken = displayLanguage;
}
