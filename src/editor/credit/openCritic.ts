import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import type { Critic, CriticPlace } from '../../core/training/credit/critics';

/** @throws {Fault} with one sentence, whatever is wrong with the folder */
export async function openCriticAt({ folder }: CriticPlace): Promise<Critic> {
  const { openCritic } = await import('../../core/training/credit/critics');
  try {
    return openCritic(folder);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const message = vscode.l10n.t('The critic cannot be read: {0}', messageOf(error));
    throw new Fault('editor/critic-unreadable', message, { cause: error });
  }
}
