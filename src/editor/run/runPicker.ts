import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Run } from '../../core/training/runs';
import { resultInShort, runStatus, subjectWords, tagWords, namesOf } from './words';
import { RunResults } from '../../core/evaluation/comparison/measuredRuns';
import { baseName } from '../words';

const { t } = vscode.l10n;

interface RunItem extends vscode.QuickPickItem {
  readonly run: Run;
}

/**
 * Returns the selected runs, else the only one, else those that the person ticks.
 * @param enough number of selected runs that are taken without a question
 * @returns at least one; undefined when the person cancelled
 * @throws {Fault} `editor/too-few-runs`
 */
export async function chosenRuns(
  selected: readonly Run[],
  all: readonly Run[],
  { enough, placeHolder }: { readonly enough: number; readonly placeHolder: string },
): Promise<readonly Run[] | undefined> {
  if (selected.length >= enough) return selected;
  refuseNone(all);
  if (all.length === 1) return all;
  const chosen = await vscode.window.showQuickPick(await itemsOf(all, selected), {
    ...searched,
    canPickMany: true,
    title: t('Runs'),
    placeHolder,
  });
  if (chosen === undefined) return undefined;
  if (chosen.length > 0) return chosen.map(({ run }) => run);
  throw new Fault('editor/too-few-runs', t('No run is chosen: select at least one.'));
}

/** @throws {Fault} `editor/too-few-runs` */
export async function chooseRun(
  runs: readonly Run[],
  placeHolder: string,
  title = t('Runs'),
): Promise<Run | undefined> {
  refuseNone(runs);
  const chosen = await vscode.window.showQuickPick(await itemsOf(runs), { ...searched, title, placeHolder });
  return chosen?.run;
}

function refuseNone({ length }: readonly Run[]): void {
  if (length === 0) throw new Fault('editor/too-few-runs', t('There is no run yet. “New Run…” makes one.'));
}

/** Tags, notes, methods and base models are searched, too. */
const searched = { matchOnDescription: true, matchOnDetail: true } as const;

async function itemsOf(runs: readonly Run[], picked: readonly Run[] = []): Promise<RunItem[]> {
  const names = namesOf(runs);
  const results = new RunResults();
  await results.read(runs);
  return runs.map((run, index) => {
    const evaluation = results.of(run);
    const result = evaluation && resultInShort(evaluation);
    return {
      run,
      label: names[index]!,
      description: [runStatus(run, Date.now(), undefined, result), ...tagWords(run)].join(' · '),
      detail: [...(run.note === undefined ? [] : [run.note]), subjectWords(run, baseName(run))].join(' · '),
      picked: picked.some(({ id }) => id === run.id),
    };
  });
}
