import * as vscode from 'vscode';
import type { DataErasure } from '../../core/erasure/erase';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { ListFilter } from '../dialogue/filter';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { dialogues } from '../words';
import type { DerivedWork } from '../../core/erasure/erase';
import type { Translate } from '../translate';

const { t } = vscode.l10n;

const TITLE = t('Delete My Data');

interface Place {
  readonly engine: Engine;
  readonly name: string;
  readonly log: TrajectoryLog;
}

interface DeletionContext {
  readonly engines: Engines;
  readonly panels: {
    closeBegun(): Promise<void>;
    readonly drafts: { remove(isKept: (episode: string) => boolean): Promise<void> };
  };
  readonly trajectories: {
    filter: ListFilter;
    readonly saved: {
      readonly all: readonly { readonly name: string; readonly filter: ListFilter }[];
      remove(name: string): void;
    };
  };
  readonly collaborations: { forget(isKept: (episode: string) => boolean): Promise<void> };
}

/** Deletes everything of one developer from the window's data folders and from the editor's memory, for good. */
export async function deleteData(on: DeletionContext): Promise<void> {
  const places = await Promise.all(
    on.engines.logs.map(async ({ engine, name }) => ({ engine, name, log: await engine.log() })),
  );
  const own = on.engines.first.consent.given?.pseudonym;
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
    () => eraseAll(on, places, { pseudonym, isOwn: pseudonym === own }),
  );
  if (erased.length > 0) void vscode.window.showInformationMessage(erasedWords(pseudonym, erased, t));
}

/** A folder that cannot be changed is reported, and does not stop the others; the person stays known until it is. */
async function eraseAll(
  { engines, panels, trajectories, collaborations }: DeletionContext,
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

/** Asks for a pseudonym: one named in the logs, the person's own first, or any other that is typed. */
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
    placeHolder:
      places.length === 1
        ? t('Whose dialogues, ratings and consent are deleted from this data folder?')
        : t('Whose dialogues, ratings and consent are deleted from the data folders of this window?'),
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
  /** Number of dialogues in which the developer had the seat. */
  readonly dialogues: number;
  readonly made: DerivedWork;
}

export function whatGoes(found: readonly DeveloperData[], t: Translate): string {
  const runs = found.flatMap(({ made }) => made.runs);
  const experiments = found.flatMap(({ made }) => made.experiments);
  const exports = found.flatMap(({ made }) => made.exports);
  return [
    t(
      '{0} played under this pseudonym, all others with its replies, its ratings, its consent, and drafts of replies in this window. Open dialogues are closed.',
      countOf(found, t),
    ),
    ...(runs.length === 0
      ? []
      : [t('Runs that were trained with them, and their models: {0}.', runs.join(', '))]),
    ...(experiments.length === 0
      ? []
      : [t('Not deleted from the logs of these loops and scoreboards: {0}.', experiments.join(', '))]),
    ...(exports.length === 0 ? [] : [t('Exported files in the data folder: {0}.', exports.join(', '))]),
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
        ...(runs.length === 0 ? [] : [runs.length === 1 ? t('1 run') : t('{0} runs', runs.length)]),
        ...experiments,
      ].join(', '),
    ),
  );
  return t('All data of {0} has been deleted from {1}.', pseudonym, each.join('; '));
}
