import * as vscode from 'vscode';

/** The language that Tandem speaks: without a translation it is English, in an editor of any language. */
export const language = (): string => (vscode.l10n.bundle === undefined ? 'en' : vscode.env.language);
