import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { App, CommandRow } from '../app';
import { documentUri, openDocument } from '../documents';
import type { Engine } from '../engine';
import { collaboratorCalled } from '../models/displayNames';
import { pickOne, valueOf } from '../inputSteps';
import type { ListedTask } from '../tasks/packs';
import { pickFilter } from './filterPicker';
import { groupingName, groupings, groupingWords } from './grouping';
import { pickDialogue } from './pickDialogue';
import { givenTitle, outcomeWords, tagsInShort } from './words';
import { ago } from '../words';

const { t } = vscode.l10n;

export const titleIn =
  ({ trajectories }: App) =>
  (summary: TrajectorySummary): string =>
    trajectories.title(summary);

export async function filter({ engines, trajectories }: App): Promise<void> {
  const { engine } = engines.shown;
  const log = await engine.log();
  await pickFilter(log, engine, trajectories);
}

export async function search({ engines, trajectories }: App): Promise<void> {
  const { engine } = engines.shown;
  const log = await engine.log();
  // The search is large, so a window without searches does not load it.
  const { searchTranscripts } = await import('./searching');
  await searchTranscripts({ log, engine, titlesOf: (rows) => trajectories.titlesOf(log, rows) });
}

export async function group({ trajectories }: App): Promise<void> {
  const chosen = valueOf(
    await pickOne({
      title: t('Group Trajectories By'),
      items: groupings.map((grouping) => ({
        label: groupingName(grouping, t),
        description: groupingWords(grouping, t),
        grouping,
      })),
      active: ({ grouping }) => grouping === trajectories.grouping,
    }),
  );
  if (chosen !== undefined) trajectories.grouping = chosen.grouping;
}

/** Without a row, that of the active session. @throws {Fault} `editor/no-trajectory` */
export async function openTranscript({ engines, panels }: App, row: CommandRow): Promise<void> {
  if (row?.kind !== 'trajectory') return panels.active?.openTranscript();
  const { id } = row.summary;
  const trajectory = await (await (await engines.withEpisode(id)).log()).trajectory(id);
  if (trajectory === undefined) {
    throw new Fault('editor/no-trajectory', t('The log has no dialogue {0}; it may have been deleted.', id));
  }
  await openDocument(documentUri('transcript', trajectory.task, { episode: id }));
}

export async function openOneOf({ engines, panels }: App, task: ListedTask): Promise<void> {
  const episode = await chooseDialogue(engines.of(task.pack), task);
  if (episode !== undefined) await panels.openTrajectory(episode);
}

/** Whoever played them. @returns its id; undefined when the person cancelled, or there is none */
async function chooseDialogue(engine: Engine, task: ListedTask): Promise<string | undefined> {
  const log = await engine.log();
  const { total } = log.list({ filter: { task: task.id }, offset: 0, limit: 0 });
  if (total === 0) {
    void vscode.window.showInformationMessage(t('Nobody has played {0} yet.', task.title));
    return undefined;
  }
  const now = Date.now();
  return pickDialogue({
    ...{ log, task: task.id },
    itemOf: (row) => ({
      label: outcomeWords(row, task.tests, t),
      description: [...saidOf(row), ago(row.startedAt, now, t)].join(' · '),
      detail: t(
        'agent: {0} · collaborator: {1} · turns: {2}',
        engine.calledBy(row.agent),
        collaboratorCalled(row.collaborator, engine),
        row.turns,
      ),
    }),
    title: t('Dialogues About {0}', task.title),
    placeholder: total === 1 ? t('1 dialogue') : t('{0} dialogues, newest first', total),
  });
}

const saidOf = (row: TrajectorySummary): string[] => [...[givenTitle(row) ?? []].flat(), ...tagsInShort(row)];

export async function compareWith(
  { engines, replays }: App,
  { id, taskId }: TrajectorySummary,
): Promise<void> {
  const engine = await engines.withEpisode(id);
  const log = await engine.log();
  if (log.list({ filter: { task: taskId }, offset: 0, limit: 0 }).total < 2) {
    void vscode.window.showInformationMessage(t('There is no other dialogue of this task in the log.'));
    return;
  }
  const now = Date.now();
  const chosen = await pickDialogue({
    ...{ log, task: taskId, except: id },
    itemOf: (row) => ({
      label: outcomeWords(row, undefined, t),
      description: [
        ...saidOf(row),
        t('{0} with {1}', engine.calledBy(row.agent), collaboratorCalled(row.collaborator, engine)),
        ago(row.startedAt, now, t),
      ].join(' · '),
    }),
    title: t('Compare With'),
    placeholder: t('Another dialogue of this task'),
  });
  if (chosen !== undefined) await replays.compare(id, chosen);
}
