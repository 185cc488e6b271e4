import * as vscode from 'vscode';
import { levels, levelWords, type ConsentRequest } from '../../../webview/session/protocol';
import type { Engines } from '../engines';
import { lowerFirst } from '../lowerFirst';
import type { SessionPanels } from '../session/panels';

const { t } = vscode.l10n;

const TITLE = t('Change Pseudonym and Consent');

/**
 * Asks for pseudonym, purpose and level, one after the other, and logs what was answered as a new consent: in the log
 * that is shown, and in each other one of the window that has a consent of that pseudonym.
 */
export async function changeConsent({ logs, shown }: Engines, panels: SessionPanels): Promise<void> {
  const { engine } = shown;
  await engine.log(); // a workspace without a log is told before anything is asked
  const { given } = engine.consent;
  const before = given ?? engine.consent.suggestion;
  const pseudonym = await ask(1, t('Pseudonym under which your replies are logged'), before.pseudonym);
  if (pseudonym === undefined) return;
  const purpose = await ask(2, t('What the dialogues are for'), before.purpose);
  if (purpose === undefined) return;
  const level = await askLevel(before.level);
  if (level === undefined) return;
  await engine.consent.give({ pseudonym, purpose, level });
  for (const other of logs) {
    // One log that cannot be written must not keep a narrower consent from the others.
    await other.engine.consent.recordAgain().catch((error: unknown) => other.engine.show(error));
  }
  panels.refresh();
  const isOther = given !== undefined && pseudonym !== given.pseudonym;
  const label = lowerFirst(levelWords(t)[level].label);
  const holds =
    logs.length === 1
      ? t('Logged for {0}: {1}. It holds for all of {0}’s dialogues in this log.', pseudonym, label)
      : t(
          'Logged for {0}: {1}. It holds for all of {0}’s dialogues in the logs of this window.',
          pseudonym,
          label,
        );
  const rest = isOther ? [t('What is logged as {0} keeps its own consent.', given.pseudonym)] : [];
  void vscode.window.showInformationMessage([holds, ...rest].join(' '));
}

async function ask(step: number, prompt: string, value: string): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title: `${TITLE} (${step}/3)`,
    prompt,
    value,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? t('Write something.') : undefined),
  });
  return answer?.trim();
}

async function askLevel(now: ConsentRequest['level']): Promise<ConsentRequest['level'] | undefined> {
  const items = levels.map((level) => ({
    ...levelWords(t)[level],
    ...(level === now ? { description: t('now') } : {}),
    level,
  }));
  const pick = vscode.window.createQuickPick<(typeof items)[number]>();
  pick.title = `${TITLE} (3/3)`;
  pick.placeholder = t('How far may what you write go?');
  pick.ignoreFocusOut = true;
  pick.items = items;
  pick.activeItems = items.filter(({ level }) => level === now);
  try {
    return await new Promise((resolve) => {
      pick.onDidAccept(() => resolve(pick.selectedItems[0]?.level));
      pick.onDidHide(() => resolve(undefined));
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}
