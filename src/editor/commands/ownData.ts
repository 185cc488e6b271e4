import * as vscode from 'vscode';
import { levels, levelWords } from '../../../webview/session/protocol';
import type { App } from '../app';
import { lowerFirst, dialogues } from '../words';
import {
  askText,
  inform,
  pickOne,
  runSteps,
  signalQuestions,
  taking,
  type StepPosition,
} from '../inputSteps';
import { consentSignals } from '../../core/trajectory/event';
import type { DataErasure, DerivedWork } from '../../core/erasure/erase';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { FolderLog } from '../engines';
import type { Translate } from '../translate';

const { t } = vscode.l10n;

/** Logged in the shown log, and in each other log of the window that has a consent of that pseudonym. */
export async function changeConsent({ engines: { logs, shown }, panels, tasks }: App): Promise<void> {
  const { engine } = shown;
  await engine.log(); // a workspace without a log is told before anything is asked
  const { given } = engine.consent;
  const asked = { ...(given ?? engine.consent.suggestion) };
  const title = t('Change Pseudonym and Consent');
  // Asked first where they are understood, as after an edit.
  const answers = new Map(
    consentSignals.flatMap((signal) => {
      const answer = engine.consent.answerTo(signal);
      return answer === undefined ? [] : [[signal, answer] as const];
    }),
  );
  const askFor = (name: 'pseudonym' | 'purpose', prompt: string) =>
    taking(
      (place: StepPosition) =>
        askText({
          ...{ title, prompt, value: asked[name], ...place },
          validate: (text) => (text.trim() === '' ? t('Enter some text.') : undefined),
        }),
      (text) => (asked[name] = text),
    );
  const isAnswered = await runSteps([
    askFor('pseudonym', t('Pseudonym under which your replies are logged')),
    askFor('purpose', t('What these dialogues are for')),
    taking(
      (place) => {
        const now = asked.level;
        return pickOne({
          ...{ title, placeholder: t('How may your replies be shared?'), ...place },
          items: levels.map((level) => ({
            ...levelWords(t)[level],
            ...(level === now && { description: t('now') }),
            level,
          })),
          active: ({ level }) => level === now,
        });
      },
      (item) => (asked.level = item.level),
    ),
    ...[...answers].map(([signal, now]) =>
      taking(
        (place: StepPosition) =>
          pickOne({
            ...{ title, placeholder: signalQuestions[signal], ...place },
            items: [true, false].map((isAllowed) => ({
              label: isAllowed ? t('Yes') : t('No'),
              ...(isAllowed === now && { description: t('now') }),
              isAllowed,
            })),
            active: ({ isAllowed }) => isAllowed === now,
          }),
        ({ isAllowed }) => answers.set(signal, isAllowed),
      ),
    ),
  ]);
  if (!isAnswered) return;
  const { pseudonym, level } = asked;
  await engine.consent.give(asked);
  for (const [signal, isAllowed] of answers) await engine.consent.answer(signal, isAllowed);
  for (const other of logs) {
    // A log that cannot be written must not keep the new consent from the others.
    await other.engine.consent.recordAgain().catch((error: unknown) => other.engine.show(error));
  }
  panels.refresh();
  // The list shows the progress of the person with this pseudonym.
  tasks.redraw();
  const label = lowerFirst(levelWords(t)[level].label);
  const holds = t(
    'Logged for {0}: {1}. It holds for all of {0}’s dialogues in the logs of this window.',
    ...[pseudonym, label],
  );
  const isOther = given !== undefined && pseudonym !== given.pseudonym;
  const rest = isOther ? [t('Data logged as {0} keeps its own consent.', given.pseudonym)] : [];
  inform([holds, ...rest].join(' '));
}

const TITLE = t('Delete My Data');

interface Place extends FolderLog {
  readonly log: TrajectoryLog;
}

/** Deletes everything of one developer from the window's data folders and from the editor's memory, for good. */
export async function deleteData(app: App): Promise<void> {
  const places = await Promise.all(
    app.engines.logs.map(async ({ engine, name }) => ({ engine, name, log: await engine.log() })),
  );
  const own = app.engines.first.consent.given?.pseudonym;
  const pseudonym = await askWhose(places, own);
  if (pseudonym === undefined) return;
  const { madeFrom } = await import('../../core/erasure/erase');
  const found = await Promise.all(
    places.map(async ({ engine, name, log }) => ({
      name,
      dialogues: inSeat(log, pseudonym),
      made: await madeFrom(engine.dataFolder, pseudonym),
    })),
  );
  const confirm = t('Delete');
  const chosen = await vscode.window.showWarningMessage(
    t('Delete everything of {0}?', pseudonym),
    { modal: true, detail: whatGoes(found, t) },
    confirm,
  );
  if (chosen !== confirm) return;
  const erased = await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: t('Deleting the data of {0}…', pseudonym),
    },
    () => eraseAll(app, places, { pseudonym, isOwn: pseudonym === own }),
  );
  if (erased.length > 0) inform(erasedWords(pseudonym, erased, t));
}

/** A folder that cannot be changed is reported, and does not stop the others; the person stays known until it is. */
async function eraseAll(
  { engines, panels, trajectories, collaborations }: App,
  places: readonly Place[],
  { pseudonym, isOwn }: { readonly pseudonym: string; readonly isOwn: boolean },
): Promise<(DataErasure & { readonly place: string })[]> {
  const { eraseDeveloper } = await import('../../core/erasure/erase');
  await panels.closeBegun();
  const erased: (DataErasure & { readonly place: string })[] = [];
  for (const { engine, log } of places) {
    try {
      const folder = engine.dataFolder;
      erased.push({ place: folder, ...(await eraseDeveloper(log, folder, pseudonym)) });
    } catch (error) {
      engine.show(error);
    }
  }
  const isThere = (episode: string): boolean => places.some(({ log }) => log.summary(episode) !== undefined);
  await panels.drafts.remove((episode) => !isOwn && isThere(episode));
  await collaborations.forget(isThere);
  // The editor keeps filters, and with them the name.
  if (trajectories.filter.collaborator === pseudonym) trajectories.filter = {};
  for (const { name, filter } of trajectories.saved.all)
    if (filter.collaborator === pseudonym) trajectories.saved.remove(name);
  if (isOwn && erased.length === places.length) await engines.first.consent.forget();
  return erased;
}

async function askWhose(places: readonly Place[], own: string | undefined): Promise<string | undefined> {
  const named = places.flatMap(({ log }) => log.consents.map(({ pseudonym }) => pseudonym));
  const known = new Set([...(own === undefined ? [] : [own]), ...named]);
  const other = { label: t('Another pseudonym…'), isOther: true };
  const items = [...known].map((label) => ({
    label,
    description: [
      ...(label === own ? [t('you')] : []),
      ...places.map(({ name, log }) => {
        const count = dialogues(inSeat(log, label), t);
        return places.length === 1 ? count : t('{0}: {1}', name, count);
      }),
    ].join(', '),
    isOther: false,
  }));
  const chosen = await vscode.window.showQuickPick([...items, other], {
    title: TITLE,
    ignoreFocusOut: true,
    placeHolder: t('Whose dialogues, ratings and consent are deleted from the data folders of this window?'),
  });
  if (chosen?.isOther !== true) return chosen?.label;
  const typed = await vscode.window.showInputBox({
    title: TITLE,
    prompt: t('The pseudonym'),
    ignoreFocusOut: true,
  });
  return typed === '' ? undefined : typed;
}

const inSeat = (log: TrajectoryLog, pseudonym: string): number =>
  log.list({ filter: { collaborator: pseudonym }, offset: 0, limit: 1 }).total;

interface DeveloperData {
  readonly name: string;
  readonly dialogues: number;
  readonly made: DerivedWork;
}

export function whatGoes(found: readonly DeveloperData[], t: Translate): string {
  const runs = found.flatMap(({ made }) => made.runs);
  const experiments = found.flatMap(({ made }) => made.experiments);
  const exports = found.flatMap(({ made }) => made.exports);
  const listed = (names: readonly string[], words: string): string[] => (names.length === 0 ? [] : [words]);
  return [
    t(
      '{0} played under this pseudonym, all others with its replies, its ratings, its consent, and drafts of replies in this window. Open dialogues are closed.',
      countOf(found, t),
    ),
    ...listed(runs, t('Runs that were trained with them, and their models: {0}.', runs.join(', '))),
    ...listed(
      experiments,
      t('Not deleted from the logs of these loops and scoreboards: {0}.', experiments.join(', ')),
    ),
    ...listed(exports, t('Exported files in the data folder: {0}.', exports.join(', '))),
    t(
      'Not deleted: exported files, models and copies of the log elsewhere, what was published, and tasks in pack files. This cannot be undone.',
    ),
  ].join('\n\n');
}

function countOf(found: readonly DeveloperData[], t: Translate): string {
  const [only] = found;
  if (found.length === 1) return dialogues(only!.dialogues, t);
  const total = found.reduce((sum, one) => sum + one.dialogues, 0);
  const each = found.map((one) => t('{0}: {1}', one.name, dialogues(one.dialogues, t)));
  return `${dialogues(total, t)} (${each.join(', ')})`;
}

export function erasedWords(
  pseudonym: string,
  erased: readonly (DataErasure & { readonly place: string })[],
  t: Translate,
): string {
  const each = erased.map(({ place, episodes, runs, experiments }) =>
    t(
      '{0}: {1}',
      place,
      [
        dialogues(episodes, t),
        ...(runs.length === 0 ? [] : [t('runs: {0}', runs.length)]),
        ...experiments,
      ].join(', '),
    ),
  );
  return t('All data of {0} has been deleted from {1}.', pseudonym, each.join('; '));
}
