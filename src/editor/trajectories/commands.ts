import * as vscode from 'vscode';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { Command, CommandContext, Target } from '../commands';
import { commands, type CommandId } from '../contributions';
import { collaboratorCalled } from '../models/called';
import { pickOne, valueOf } from '../steps';
import { chooseLog } from './chooseLog';
import { deleteDialogues, restoreDialogues } from './deleting';
import { pickFilter } from './filterPicker';
import { groupingName, groupings } from './grouping';
import { importRows } from './importing';
import { pickDialogue } from './pickDialogue';
import { summariesOf } from './tree';
import { ago, outcomeWords } from './words';

const { t } = vscode.l10n;

/** What can be done with the log and with its dialogues. */
export function trajectoryCommands(on: CommandContext) {
  const { engines, panels, trajectories, replays, exports, statistics } = on;
  const titleOf = (summary: TrajectorySummary): string => trajectories.title(summary);
  return {
    [commands.openTrajectory]: ofOne(({ id, state }) =>
      state === 'answered' ? replays.replay(id, true) : panels.openTrajectory(id),
    ),
    [commands.openReplay]: ofOne(({ id }) => replays.replay(id)),
    [commands.openSession]: ofOne(({ id }) => panels.openTrajectory(id)),
    [commands.compareTrajectory]: ofOne((summary) => compareWith(on, summary)),
    [commands.compareTrajectories]: (target, selected) => {
      const [first, second] = summariesAt(target, selected, on);
      return first && second && replays.compare(first.id, second.id);
    },
    [commands.filterTrajectories]: async () => {
      const { engine } = engines.shown;
      const log = await engine.log();
      await pickFilter(
        log,
        engine,
        () => trajectories.namedFilter(log),
        (filter) => (trajectories.filter = filter),
      );
    },
    [commands.clearTrajectoryFilter]: () => {
      trajectories.filter = {};
      return undefined;
    },
    [commands.searchTranscripts]: async () => {
      const { engine } = engines.shown;
      const log = await engine.log();
      // It is large enough that a window without searches need not load it.
      const { searchTranscripts } = await import('./searching');
      await searchTranscripts({ log, engine, titlesOf: (rows) => trajectories.titlesOf(log, rows) });
    },
    [commands.groupTrajectories]: async () => {
      const chosen = valueOf(
        await pickOne({
          title: t('Group Trajectories By'),
          items: groupings.map((grouping) => ({ label: groupingName(grouping, t), grouping })),
          active: ({ grouping }) => grouping === trajectories.grouping,
        }),
      );
      if (chosen !== undefined) trajectories.grouping = chosen.grouping;
    },
    [commands.deleteTrajectories]: (target, selected) =>
      deleteDialogues(on, summariesAt(target, selected, on), titleOf),
    [commands.restoreTrajectories]: () => restoreDialogues(engines.shown.engine, titleOf),
    [commands.exportTrajectories]: () => exports.preview((log) => trajectories.namedFilter(log)),
    // The title of a preview passes its address.
    [commands.saveExport]: (preview: unknown) =>
      exports.save(preview instanceof vscode.Uri ? preview : undefined),
    [commands.importTrajectories]: () => importRows(engines.shown),
    [commands.showStatistics]: () => statistics.open(),
    [commands.chooseLog]: () => chooseLog(engines),
  } satisfies Partial<Record<CommandId, Command>>;
}

const ofOne =
  (act: (summary: TrajectorySummary) => Promise<unknown>): Command =>
  (target) =>
    target?.kind === 'trajectory' ? act(target.summary) : undefined;

/** The dialogues that a command was called on: those selected with the row it was called on; by a key, the selection. */
function summariesAt(
  target: Target,
  selected: readonly Target[] | undefined,
  { trajectories }: CommandContext,
): readonly TrajectorySummary[] {
  if (target === undefined) return trajectories.selected;
  return summariesOf((selected ?? [target]).filter((one) => one !== undefined));
}

async function compareWith(
  { engines, replays }: CommandContext,
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
      description: `${t('{0} with {1}', engine.calledBy(row.agent), collaboratorCalled(row.collaborator, engine))} · ${ago(row.startedAt, now, t)}`,
    }),
    title: t('Compare With'),
    placeholder: t('Another dialogue of this task'),
  });
  if (chosen !== undefined) await replays.compare(id, chosen);
}
