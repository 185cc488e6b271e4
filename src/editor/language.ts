import * as vscode from 'vscode';

/** Returns the language of Tandem's texts: English without a translation, whatever the language of the editor. */
export const language = (): string => (vscode.l10n.bundle === undefined ? 'en' : vscode.env.language);
