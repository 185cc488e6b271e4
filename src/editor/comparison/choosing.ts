import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Run } from '../../core/training/runs';
import { standingWords } from '../runs/words';
import { namesOf } from './names';

const { t } = vscode.l10n;

interface RunItem extends vscode.QuickPickItem {
  readonly run: Run;
}

/**
 * The runs that a command is about: those selected in the view, else those that a person ticks.
 * @param fewest that make sense
 * @returns undefined when the person left it
 * @throws {Fault} `editor/too-few-runs`
 */
export async function chosenRuns(
  selected: readonly Run[],
  all: readonly Run[],
  fewest: number,
): Promise<readonly Run[] | undefined> {
  if (selected.length >= fewest && selected.length > 0) return selected;
  if (all.length < fewest) {
    throw new Fault(
      'editor/too-few-runs',
      fewest === 1
        ? t('There is no run yet. “New Run…” makes one.')
        : t('There are too few runs to compare: two are needed. “New Run…” makes one.'),
    );
  }
  const chosen = await vscode.window.showQuickPick(itemsOf(all, selected), {
    canPickMany: true,
    title: t('Runs'),
    placeHolder: fewest === 1 ? t('Which runs') : t('Which runs; two at least'),
  });
  if (chosen === undefined) return undefined;
  if (chosen.length >= fewest) return chosen.map(({ run }) => run);
  throw new Fault('editor/too-few-runs', t('Too few runs are chosen: take at least {0}.', fewest));
}

/** One of several. */
export async function chooseRun(runs: readonly Run[], placeHolder: string): Promise<Run | undefined> {
  const chosen = await vscode.window.showQuickPick(itemsOf(runs), { title: t('Runs'), placeHolder });
  return chosen?.run;
}

function itemsOf(runs: readonly Run[], picked: readonly Run[] = []): RunItem[] {
  const names = namesOf(runs, t);
  return runs.map((run, index) => ({
    run,
    label: names[index]!,
    description: standingWords(run, Date.now(), t),
    picked: picked.some(({ id }) => id === run.id),
  }));
}
