import * as vscode from 'vscode';
import { levels, levelWords, type ConsentRequest } from '../../../webview/session/protocol';
import type { Engines } from '../engines';
import { lowerFirst } from '../words';
import { askText, pickOne, runSteps, taking, type Given, type StepPosition } from '../inputSteps';

const { t } = vscode.l10n;

const TITLE = t('Change Pseudonym and Consent');

/** Logged in the shown log, and in each other log of the window that has a consent of that pseudonym. */
export async function changeConsent({ logs, shown }: Engines, panels: { refresh(): void }): Promise<void> {
  const { engine } = shown;
  await engine.log(); // a workspace without a log is told before anything is asked
  const { given } = engine.consent;
  const before = given ?? engine.consent.suggestion;
  const asked = { ...before };
  const isAnswered = await runSteps([
    taking(
      (place) => ask(t('Pseudonym under which your replies are logged'), asked.pseudonym, place),
      (pseudonym) => (asked.pseudonym = pseudonym),
    ),
    taking(
      (place) => ask(t('What these dialogues are for'), asked.purpose, place),
      (purpose) => (asked.purpose = purpose),
    ),
    taking(
      (place) => askLevel(asked.level, place),
      (item) => (asked.level = item.level),
    ),
  ]);
  if (!isAnswered) return;
  const { pseudonym, level } = asked;
  await engine.consent.give(asked);
  for (const other of logs) {
    // A log that cannot be written must not keep the new consent from the others.
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
  const rest = isOther ? [t('Data logged as {0} keeps its own consent.', given.pseudonym)] : [];
  void vscode.window.showInformationMessage([holds, ...rest].join(' '));
}

const ask = (prompt: string, value: string, place: StepPosition): Promise<Given<string>> =>
  askText({
    ...{ title: TITLE, prompt, value, ...place },
    validate: (text) => (text.trim() === '' ? t('Enter some text.') : undefined),
  });

const askLevel = (
  now: ConsentRequest['level'],
  place: StepPosition,
): Promise<Given<{ readonly level: ConsentRequest['level'] }>> =>
  pickOne({
    ...{ title: TITLE, placeholder: t('How may your replies be shared?'), ...place },
    items: levels.map((level) => ({
      ...levelWords(t)[level],
      ...(level === now ? { description: t('now') } : {}),
      level,
    })),
    active: ({ level }) => level === now,
  });
