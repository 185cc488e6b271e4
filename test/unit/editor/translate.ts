import type { Translate } from '../../../src/editor/translate';

/** What `vscode.l10n.t` gives in an editor that speaks English. */
export const english: Translate = (message: unknown, ...values: unknown[]) =>
  String(message).replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)]));
