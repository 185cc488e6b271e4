import * as vscode from 'vscode';
import { idOf } from './contributions';
import type { Engine } from './engine';

const { t } = vscode.l10n;

/** A person without consent is asked for it first. @param why a sentence that says what is logged */
export async function askPseudonym(engine: Engine, why: string): Promise<string | undefined> {
  const { given } = engine.consent;
  if (given !== undefined) return given.pseudonym;
  const choose = t('Choose…');
  const answer = await vscode.window.showInformationMessage(why, choose);
  if (answer !== choose) return undefined;
  await vscode.commands.executeCommand(idOf('changeConsent'));
  return engine.consent.given?.pseudonym;
}
