import * as vscode from 'vscode';
import type { Run } from '../../core/training/runs';
import type { App, CommandRow } from '../app';
import { chosenRuns } from '../run/runPicker';
import { runsMeant } from './runs';
import { comparedOf } from '../comparison/comparisons';
import { reportRuns } from '../comparison/report';

const { t } = vscode.l10n;

export async function compare(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await runsAt(app, row, selected, {
    enough: 2,
    placeHolder: t('Choose runs; a single run is compared with its base model'),
  });
  if (runs !== undefined) await app.comparisons.open(comparedOf(runs));
}

export async function evaluate(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await runsAt(app, row, selected, oneAtLeast);
  if (runs !== undefined) await (await app.comparisons.open(comparedOf(runs))).evaluate(runs);
}

export async function report(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = await runsAt(app, row, selected, oneAtLeast);
  if (runs !== undefined) await reportRuns(runs, app.engines.shown.engine);
}

const oneAtLeast = { enough: 1, placeHolder: t('Choose runs') };

/** Earliest first: later runs are compared with the first. */
async function runsAt(
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
