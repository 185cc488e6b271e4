import * as vscode from 'vscode';
import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { isRunId } from '../../core/training/runFolder';
import { runsOf, Runs, type Run } from '../../core/training/runs';
import { Panels } from '../panel';
import type { Compared, ComparisonContext, ComparisonPanel } from './panel';

const keptSchema = lazily(() =>
  z.object({ dataFolder: z.string(), ids: z.array(z.string().refine(isRunId)).min(1) }),
);

type ComparisonPanels = Panels<Compared, ComparisonPanel>;

export function comparisonPanels(on: ComparisonContext): ComparisonPanels {
  const panels: ComparisonPanels = new Panels({
    name: 'comparison',
    errors: on.engines.first,
    shows: ({ compared }, other) => keyOf(compared) === keyOf(other),
    restore: (kept) => {
      const { dataFolder, ids } = keptSchema().safeParse(kept).data ?? {};
      // The page wrote this, so only runs of this window's logs are read.
      if (!vscode.workspace.isTrusted || ids === undefined) return undefined;
      if (on.engines.withDataFolder(dataFolder) === undefined) return undefined;
      return { runs: new Runs(dataFolder!), ids };
    },
    load: async () => {
      const { ComparisonPanel } = await import('./panel');
      const tellAll = (): void => panels.all.forEach((panel) => panel.tell());
      return (panel, compared) => new ComparisonPanel(panel, compared, on, tellAll);
    },
  });
  return panels;
}

/** @param runs of one data folder */
export const comparedOf = (runs: readonly Run[]): Compared => ({
  runs: runsOf(runs[0]!),
  ids: runs.map(({ id }) => id),
});

const keyOf = ({ runs, ids }: Compared): string => JSON.stringify([runs.dataFolder, ...ids.toSorted()]);
