import type { l10n } from 'vscode';

/** `vscode.l10n.t`, given to what makes sentences without knowing the editor. */
export type Translate = typeof l10n.t;
