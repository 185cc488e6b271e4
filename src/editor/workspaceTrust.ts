import * as vscode from 'vscode';
import { Fault } from '../core/fault';

const { t } = vscode.l10n;

// An untrusted workspace can be read. What would run something that it may have brought, or send something where it
// says, is refused with the reason. Grading counts: it runs code.

/** @param what beginning of the sentence, such as `Models do not run` */
export function refuseInRestrictedMode(what: string): void {
  const message = restrictionOf(what);
  if (message !== undefined) throw new Fault('editor/restricted', message);
}

/** Undefined in a trusted workspace. @param what as above */
export function restrictionOf(what: string): string | undefined {
  if (vscode.workspace.isTrusted) return undefined;
  return t(
    '{0} in a workspace that is not trusted. Tasks and dialogues can be read; trust the workspace to continue.',
    what,
  );
}

export function isRestricted(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'editor/restricted';
}

export async function manageTrust(): Promise<void> {
  await vscode.commands.executeCommand('workbench.trust.manage');
}

export async function showRestricted({ message }: Fault): Promise<void> {
  const manage = t('Manage Workspace Trust');
  if ((await vscode.window.showWarningMessage(message, manage)) === manage) await manageTrust();
}
