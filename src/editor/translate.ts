import type { l10n } from 'vscode';
import { Fault, type FaultCode } from '../core/fault';
import { english } from '../views/translate';

export { english };

/** The type of `vscode.l10n.t`, passed to functions that make sentences without knowing the editor. */
export type Translate = typeof l10n.t;

/** Translates a sentence of the schema of run.json, where translators get it from. */
export const fromSchema = (sentence: string, translate: Translate): string => translate(sentence);

/** A fault whose sentence the reader gets in their language, and the log in English. */
export const translatedFault = (
  code: FaultCode,
  words: (t: Translate) => string,
  t: Translate,
  cause?: unknown,
): Fault => new Fault(code, words(t), { english: words(english), cause });
