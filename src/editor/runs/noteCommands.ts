import * as vscode from 'vscode';
import type { Run } from '../../core/training/runs';
import { changeNotes, MAX_LENGTHS } from '../../core/training/runNotes';
import type { App, CommandRow, RowOrSelected } from '../app';
import { askLine } from '../askLine';
import { pickTags } from '../pickOrType';
import { chooseRun } from './runPicker';
import { runsMeant } from './commands';
import { runName } from './words';

const { t } = vscode.l10n;

/** Asks for another name of a run; without one it has that of its configuration again. */
export async function renameRun(app: App, row: RowOrSelected): Promise<void> {
  const [run] = await runsAt(app, row);
  if (run === undefined) return;
  const name = await askLine({
    title: t('Rename {0}', runName(run, t)),
    prompt: t('Name of the run. Empty gives it the name in its configuration again.'),
    value: run.name,
    most: MAX_LENGTHS.name,
  });
  if (name !== undefined) await change(app, [run], () => ({ name }));
}

/** Asks for the tags of the selected runs. Tags that only some of them have stay as they are. */
export async function tagRuns(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await runsAt(app, row, selected);
  const [first] = runs;
  if (first === undefined) return;
  const isCommon = (tag: string): boolean => runs.every(({ tags = [] }) => tags.includes(tag));
  const uses = new Map<string, number>();
  for (const { tags = [] } of app.runWatch.around(first)) {
    for (const tag of tags) uses.set(tag, (uses.get(tag) ?? 0) + 1);
  }
  const offered = [...uses]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([tag, count]) => ({
      word: tag,
      description: count === 1 ? t('1 run') : t('{0} runs', count),
      isPicked: isCommon(tag),
    }));
  const picked = await pickTags(
    runs.length === 1 ? t('Tags of {0}', runName(first, t)) : t('Tags of {0} Runs', runs.length),
    offered,
  );
  if (picked === undefined) return;
  const gone = offered.flatMap(({ word, isPicked }) => (isPicked && !picked.includes(word) ? [word] : []));
  await change(app, runs, ({ tags }) => ({
    tags: [...new Set([...tags.filter((tag) => !gone.includes(tag)), ...picked])].slice(0, MAX_LENGTHS.tags),
  }));
}

/** Asks for the note on a run. */
export async function noteOnRun(app: App, row: CommandRow): Promise<void> {
  const [run] = await runsAt(app, row);
  if (run === undefined) return;
  const note = await askLine({
    title: t('Note on {0}', runName(run, t)),
    prompt: t('What the run is for, or what came of it'),
    value: run.note ?? '',
    most: MAX_LENGTHS.note,
  });
  if (note !== undefined) await change(app, [run], () => ({ note }));
}

/** Asks for a run by its name, tags, note, method or base model, and opens it. */
export async function findRun({ runPanels, runWatch }: App): Promise<void> {
  await runWatch.look();
  const run = await chooseRun(
    runWatch.all,
    t('Search in names, tags, notes, methods and base models'),
    t('Find Run'),
  );
  if (run !== undefined) await runPanels.open(run);
}

/** Returns the runs that a command is about, as last seen. Without one the person is asked for a run. */
async function runsAt(
  app: App,
  row: RowOrSelected,
  selected?: readonly CommandRow[],
): Promise<readonly Run[]> {
  const runs = await runsMeant(app, row, selected);
  if (runs.length > 0) return runs;
  const run = await chooseRun(app.runWatch.all, t('Search in names, tags, notes, methods and base models'));
  return run === undefined ? [] : [run];
}

async function change(
  { runWatch }: App,
  runs: readonly Run[],
  to: Parameters<typeof changeNotes>[1],
): Promise<void> {
  try {
    for (const { folder } of runs) await changeNotes(folder, to);
  } finally {
    await runWatch.look();
  }
}
