import * as vscode from 'vscode';
import { idOf } from './contributions';
import type { Engine } from './engine';

const { t } = vscode.l10n;

/**
 * Returns the pseudonym under which a person's words about dialogues are logged. A person without consent is asked for
 * it first.
 * @param why a sentence that says what is logged
 * @returns undefined when the person has not consented
 */
export async function askPseudonym(engine: Engine, why: string): Promise<string | undefined> {
  const { given } = engine.consent;
  if (given !== undefined) return given.pseudonym;
  const choose = t('Choose…');
  const answer = await vscode.window.showInformationMessage(why, choose);
  if (answer !== choose) return undefined;
  await vscode.commands.executeCommand(idOf('changeConsent'));
  return engine.consent.given?.pseudonym;
}
