import * as vscode from 'vscode';
import type { Finding, FindingsPolicy } from '../../core/trajectory/export/export';
import { placeOf } from '../../core/trajectory/findings/words';
import { dialogues } from '../trajectories/words';

const { t } = vscode.l10n;

type Choice = Exclude<FindingsPolicy, 'refuse'>;

/**
 * Shows what was found in what would be exported, masked, and asks what is done about it.
 * @param show opens the dialogue of a finding
 * @returns undefined: nothing is to be exported
 */
export async function askAboutFindings(
  findings: readonly Finding[],
  show: (episode: string) => unknown,
): Promise<Choice | undefined> {
  const found = new Set(findings.map(({ episode }) => episode)).size;
  const choices = [
    {
      label: `$(shield) ${t('Leave These Dialogues Out')}`,
      detail: t('The rest is exported, without {0} that contain something on the list.', dialogues(found, t)),
      choice: 'leave-out' as const,
    },
    {
      label: `$(warning) ${t('Export Everything')}`,
      detail: t('Everything listed below is written to the file unchanged.'),
      choice: 'write' as const,
    },
  ];
  const list = findings.map((finding) => ({
    label: `$(${finding.kind === 'secret' ? 'key' : 'mail'}) ${finding.what}`,
    description: placeOf(finding),
    detail: finding.excerpt,
    episode: finding.episode,
  }));
  const heading = { label: t('Found: {0}', findings.length), kind: vscode.QuickPickItemKind.Separator };
  const chosen = await vscode.window.showQuickPick<
    vscode.QuickPickItem & { choice?: Choice; episode?: string }
  >([...choices, heading, ...list], {
    title: t('Secrets and E-Mail Addresses in the Export'),
    placeHolder: t('Nothing is written yet. Choose what to do, or open a dialogue of the list.'),
    matchOnDescription: true,
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  if (chosen?.episode !== undefined) await show(chosen.episode);
  return chosen?.choice;
}
