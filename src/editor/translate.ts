import type { l10n } from 'vscode';

/** `vscode.l10n.t`, given to what makes sentences without knowing the editor. */
export type Translate = typeof l10n.t;

/** What `t` gives in an editor that speaks English: for what is logged. */
export const english: Translate = (message: unknown, ...values: unknown[]) =>
  String(message).replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)]));
