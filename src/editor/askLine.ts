import * as vscode from 'vscode';
import { inOneLine } from '../core/text';

const { t } = vscode.l10n;

export async function askLine({
  most,
  ...options
}: {
  readonly title: string;
  readonly prompt: string;
  readonly value: string;
  /** Maximum number of characters. */
  readonly most: number;
}): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    ...options,
    validateInput: (typed) => (inOneLine(typed).length > most ? tooLong(most) : undefined),
  });
  return text === undefined ? undefined : inOneLine(text);
}

const tooLong = (most: number): string => t('Too long: write at most {0} characters.', most);
