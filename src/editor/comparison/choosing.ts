import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Run } from '../../core/training/runs';
import { runStatus } from '../runs/words';
import { namesOf } from './names';

const { t } = vscode.l10n;

interface RunItem extends vscode.QuickPickItem {
  readonly run: Run;
}

/**
 * Returns the runs that a command is about: those selected in the view, else the only one, else those that a person
 * ticks.
 * @param enough number of selected runs that are taken as they are; with fewer, the person is asked
 * @returns at least one; undefined when the person cancelled
 * @throws {Fault} `editor/too-few-runs`
 */
export async function chosenRuns(
  selected: readonly Run[],
  all: readonly Run[],
  { enough, placeHolder }: { readonly enough: number; readonly placeHolder: string },
): Promise<readonly Run[] | undefined> {
  if (selected.length >= enough) return selected;
  if (all.length === 0)
    throw new Fault('editor/too-few-runs', t('There is no run yet. “New Run…” makes one.'));
  if (all.length === 1) return all;
  const chosen = await vscode.window.showQuickPick(itemsOf(all, selected), {
    canPickMany: true,
    title: t('Runs'),
    placeHolder,
  });
  if (chosen === undefined) return undefined;
  if (chosen.length > 0) return chosen.map(({ run }) => run);
  throw new Fault('editor/too-few-runs', t('No run is chosen: tick at least one.'));
}

/** Asks for one of several runs. */
export async function chooseRun(runs: readonly Run[], placeHolder: string): Promise<Run | undefined> {
  const chosen = await vscode.window.showQuickPick(itemsOf(runs), { title: t('Runs'), placeHolder });
  return chosen?.run;
}

function itemsOf(runs: readonly Run[], picked: readonly Run[] = []): RunItem[] {
  const names = namesOf(runs, t);
  return runs.map((run, index) => ({
    run,
    label: names[index]!,
    description: runStatus(run, Date.now(), t),
    picked: picked.some(({ id }) => id === run.id),
  }));
}
