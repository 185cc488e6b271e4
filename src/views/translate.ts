/** `vscode.l10n.t` is one, for what is made without knowing the editor. */
export type TranslateSentence = (sentence: string, ...values: (string | number | boolean)[]) => string;

/** Returns the English sentence, as `t` does in an English editor; for the log and for what is only in English. */
export const english = (message: unknown, ...values: unknown[]): string =>
  String(message).replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)]));
