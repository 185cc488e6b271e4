import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { runFiles } from '../../core/training/runFolder';
import { runsOf, type Run } from '../../core/training/runs';
import { changeNotes, MAX_LENGTHS } from '../../core/training/runNotes';
import type { App, CommandRow, RowOrSelected } from '../app';
import { openDocument, revealFolder } from '../documents';
import type { CriticNode } from '../models/critics';
import { rowsMeant } from '../tree';
import { askLine, pickOne, valueOf, pickTags } from '../inputSteps';
import { deleteRuns } from '../runs/runControl';
import { runName, tagWords } from '../run/words';
import { chooseRun, chosenRuns } from '../run/runPicker';
import { comparedOf } from '../comparison/comparisons';

const { t } = vscode.l10n;

/** @throws {Fault} `editor/no-run` */
export async function open({ runPanels }: App, row: CommandRow): Promise<void> {
  const run = row?.kind === 'critic' ? await runOfCritic(row) : row?.kind === 'run' ? row.run : undefined;
  if (run !== undefined) await runPanels.open(run);
}

export async function continueRun({ runControl, runPanels }: App, run: Run): Promise<void> {
  const next = await runControl.continue(run);
  if (next !== undefined) await runPanels.open(next);
}

async function runsMeant(
  { runTree }: App,
  row: RowOrSelected,
  selected?: readonly CommandRow[],
): Promise<Run[]> {
  const rows = await rowsMeant<CommandRow>(runTree, row, selected);
  return rows.flatMap((one) => (one?.kind === 'run' ? [one.run] : []));
}

export async function remove(app: App, row: RowOrSelected, selected?: readonly CommandRow[]): Promise<void> {
  const { engines, runPanels, runWatch } = app;
  const meant = await runsMeant(app, row, selected);
  await runWatch.look();
  const folders = new Set(meant.map(({ folder }) => folder));
  const runs = runWatch.everywhere.all.filter(({ folder }) => folders.has(folder));
  try {
    await deleteRuns(runs, engines.shown.engine, (run) => runPanels.find(run)?.dispose());
  } finally {
    await runWatch.look();
  }
}

export const reveal = ({ folder }: Run): Promise<void> =>
  revealFolder(folder, runFiles.configuration, t('The run is in {0}.', folder));

async function runOfCritic({ critic }: CriticNode): Promise<Run> {
  const folder = path.dirname(critic.folder);
  const run = await runsOf({ folder }).read(path.basename(folder));
  if (run !== undefined) return run;
  const sentence = t(
    'The run that trained {0} is gone: {1} no longer exists. Refresh the Models view.',
    critic.name,
    folder,
  );
  throw new Fault('editor/no-run', sentence);
}

/** Read-only, because another configuration would be another run. */
export async function openConfiguration({ folder }: Run): Promise<void> {
  await openDocument(vscode.Uri.file(path.join(folder, runFiles.configuration)));
  await vscode.commands.executeCommand('workbench.action.files.setActiveEditorReadonlyInSession');
}

/** @throws {Fault} `editor/no-trainer-log` */
export async function openLog(run: Run): Promise<void> {
  const file = path.join(run.folder, runFiles.log);
  try {
    await openDocument(vscode.Uri.file(file));
  } catch (cause) {
    const sentence = t('{0} has no log yet: its trainer has not been started.', runName(run));
    throw new Fault('editor/no-trainer-log', sentence, { cause });
  }
}

/** @throws {Fault} `editor/no-run-file` */
export async function startFile({ engines, runPanels, runStarter }: App): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined)
    throw new Fault('editor/no-run-file', t('Open the configuration of a run first, a JSON file.'));
  const run = await runStarter.startFrom(document, engines.shown.engine);
  if (run !== undefined) await runPanels.open(run);
}

/** Several runs have only tags to edit together. */
export async function editRuns(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await runsAt(app, row, selected);
  const [first, ...others] = runs;
  if (first === undefined) return;
  if (others.length > 0) return tag(app, runs);
  const detail = await pickOne({
    title: t('Edit {0}', runName(first)),
    items: [
      { label: t('Name'), description: first.name, edit: rename },
      { label: t('Tags'), description: tagWords(first).join(' '), edit: tag },
      { label: t('Note'), description: first.note, edit: note },
    ],
  });
  await valueOf(detail)?.edit(app, runs);
}

export const renameRun = async (app: App, row: RowOrSelected): Promise<void> =>
  rename(app, await runsAt(app, row));

export const tagRuns = async (app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> =>
  tag(app, await runsAt(app, row, selected));

/** An empty name restores that of the configuration. */
async function rename(app: App, [run]: readonly Run[]): Promise<void> {
  if (run === undefined) return;
  const name = await askLine({
    title: t('Rename {0}', runName(run)),
    prompt: t('Name of the run. Empty gives it the name in its configuration again.'),
    value: run.name,
    most: MAX_LENGTHS.name,
  });
  if (name !== undefined) await change(app, [run], () => ({ name }));
}

async function tag(app: App, runs: readonly Run[]): Promise<void> {
  const [first] = runs;
  if (first === undefined) return;
  const uses = new Map<string, number>();
  for (const { tags = [] } of app.runWatch.around(first))
    for (const tag of tags) uses.set(tag, (uses.get(tag) ?? 0) + 1);
  const offered = [...uses]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([tag, count]) => ({
      word: tag,
      description: count === 1 ? t('1 run') : t('{0} runs', count),
      isPicked: runs.every(({ tags = [] }) => tags.includes(tag)),
    }));
  const retag = await pickTags(
    runs.length === 1 ? t('Tags of {0}', runName(first)) : t('Tags of {0} Runs', runs.length),
    offered,
  );
  if (retag !== undefined) await change(app, runs, ({ tags }) => ({ tags: retag(tags) }));
}

async function note(app: App, [run]: readonly Run[]): Promise<void> {
  if (run === undefined) return;
  const written = await askLine({
    title: t('Note on {0}', runName(run)),
    prompt: t('What the run is for, or what came of it'),
    value: run.note ?? '',
    most: MAX_LENGTHS.note,
  });
  if (written !== undefined) await change(app, [run], () => ({ note: written }));
}

export async function findRun({ runPanels, runWatch }: App): Promise<void> {
  await runWatch.look();
  const run = await chooseRun(
    runWatch.all,
    t('Search in names, tags, notes, methods and base models'),
    t('Find Run'),
  );
  if (run !== undefined) await runPanels.open(run);
}

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

export async function compare(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await comparedRuns(app, row, selected, {
    enough: 2,
    placeHolder: t('Choose runs; a single run is compared with its base model'),
  });
  if (runs !== undefined) await app.comparisons.open(comparedOf(runs));
}

export async function evaluate(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await comparedRuns(app, row, selected, oneAtLeast);
  if (runs !== undefined) await (await app.comparisons.open(comparedOf(runs))).evaluate(runs);
}

export async function report(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await comparedRuns(app, row, selected, oneAtLeast);
  if (runs === undefined) return;
  const { reportRuns } = await import('../comparison/panel');
  await reportRuns(runs, app.engines.shown.engine);
}

const oneAtLeast = { enough: 1, placeHolder: t('Choose runs') };

/** Earliest first: later runs are compared with the first. */
async function comparedRuns(
  app: App,
  row: CommandRow,
  selected: readonly CommandRow[] | undefined,
  how: Parameters<typeof chosenRuns>[2],
): Promise<readonly Run[] | undefined> {
  const { runWatch } = app;
  const runs = await runsMeant(app, row, selected);
  await runWatch.look();
  const [first] = runs;
  const all = first === undefined ? runWatch.all : runWatch.around(first);
  const chosen = await chosenRuns(runs, all, how);
  return chosen?.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
