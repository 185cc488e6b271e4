import * as vscode from 'vscode';
import type { Run } from '../../core/training/runs';
import type { Command, Target } from '../commands';
import { commands, type CommandId } from '../contributions';
import type { Engines } from '../engines';
import type { RunTree } from '../runs/tree';
import type { RunWatch } from '../runs/watch';
import { chosenRuns } from './choosing';
import type { Comparisons } from './panels';
import { reportRuns } from './report';

const { t } = vscode.l10n;

export interface ComparisonCommandContext {
  readonly engines: Engines;
  readonly runTree: RunTree;
  readonly runWatch: RunWatch;
  readonly comparisons: Comparisons;
}

/** Every command that is about several runs. */
export function comparisonCommands({ engines, runTree, runWatch, comparisons }: ComparisonCommandContext) {
  const runsAt = async (
    target: Target,
    selected: readonly Target[] | undefined,
    how: Parameters<typeof chosenRuns>[2],
  ): Promise<readonly Run[] | undefined> => {
    const rows = selected ?? (target === undefined ? runTree.selection : [target]);
    await runWatch.look();
    const runs = rows.flatMap((row) => (row?.kind === 'run' ? [row.run] : []));
    const [first] = runs;
    const all = first === undefined ? runWatch.all : runWatch.around(first);
    const chosen = await chosenRuns(runs, all, how);
    // The earlier one is what the later one is compared with.
    return chosen?.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  };
  return {
    [commands.compareRuns]: async (target, selected) => {
      const runs = await runsAt(target, selected, {
        enough: 2,
        placeHolder: t('Choose runs; a single run is compared with its base model'),
      });
      if (runs !== undefined) await comparisons.compare(runs);
    },
    [commands.evaluateRuns]: async (target, selected) => {
      const runs = await runsAt(target, selected, { enough: 1, placeHolder: t('Choose runs') });
      if (runs !== undefined) await comparisons.evaluate(runs);
    },
    [commands.writeReport]: async (target, selected) => {
      const runs = await runsAt(target, selected, { enough: 1, placeHolder: t('Choose runs') });
      if (runs !== undefined) await reportRuns(runs, engines.shown.engine);
    },
  } satisfies Partial<Record<CommandId, Command>>;
}
