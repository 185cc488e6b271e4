import * as vscode from 'vscode';
import { levels, type ConsentRequest } from '../../../webview/session/protocol';
import type { Engine } from '../engine';
import type { SessionPanels } from '../session/panels';

const TITLE = 'Change Pseudonym and Consent';

/** Asks for pseudonym, purpose and level, one after the other, and logs what was answered as a new consent. */
export async function changeConsent(engine: Engine, panels: SessionPanels): Promise<void> {
  await engine.log(); // a workspace without a log is told before anything is asked
  const { given } = engine.consent;
  const before = given ?? engine.consent.suggestion;
  const pseudonym = await ask(1, 'Pseudonym under which your replies are logged', before.pseudonym);
  if (pseudonym === undefined) return;
  const purpose = await ask(2, 'What the dialogues are for', before.purpose);
  if (purpose === undefined) return;
  const level = await askLevel(before.level);
  if (level === undefined) return;
  await engine.consent.give({ pseudonym, purpose, level });
  panels.refresh();
  const isOther = given !== undefined && pseudonym !== given.pseudonym;
  const rest = isOther ? ` What is logged as ${given.pseudonym} keeps its own consent.` : '';
  void vscode.window.showInformationMessage(
    `Logged for ${pseudonym}: ${levels[level].label.toLowerCase()}. It holds for all of ${pseudonym}’s dialogues in this log.${rest}`,
  );
}

async function ask(step: number, prompt: string, value: string): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title: `${TITLE} (${step}/3)`,
    prompt,
    value,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? 'Write something.' : undefined),
  });
  return answer?.trim();
}

async function askLevel(now: ConsentRequest['level']): Promise<ConsentRequest['level'] | undefined> {
  const items = (Object.keys(levels) as ConsentRequest['level'][]).map((level) => ({
    ...levels[level],
    ...(level === now ? { description: 'now' } : {}),
    level,
  }));
  const pick = vscode.window.createQuickPick<(typeof items)[number]>();
  pick.title = `${TITLE} (3/3)`;
  pick.placeholder = 'How far may what you write go?';
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
