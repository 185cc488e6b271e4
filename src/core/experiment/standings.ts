import { pairedTasks, type PairedFigures } from '../evaluation/paired';
import type { AgentFigures } from '../evaluation/figures';
import type { Kept, Played, Setting } from '../loop/kept';

/** Some runs on the same tasks and seeds. */
export interface Standing {
  readonly setting: Setting;
  /** When the last of them was measured: ISO 8601, UTC. */
  readonly at: string;
  /** What the runs began with, then the runs in their order; those that were not measured are absent. */
  readonly rows: readonly StandingRow[];
}

export interface StandingRow {
  /** Which of the runs; absent of a model that runs began with. */
  readonly run?: number;
  readonly figures: AgentFigures;
  /** Against the model that this run began with, and against the first run that was measured. */
  readonly againstStart?: PairedFigures;
  readonly againstFirst?: PairedFigures;
}

/**
 * The evaluations of some runs, one standing for each setting, the latest first.
 * @param kept of each run, in their order
 */
export function standingsOf(kept: readonly (readonly Kept[])[]): Standing[] {
  const all = kept.flatMap((ofRun, run) => ofRun.map((one) => ({ run, one })));
  const byKey = Map.groupBy(all, ({ one }) => one.setting.key);
  return [...byKey.values()].map(standingOf).sort((a, b) => (a.at < b.at ? 1 : -1));
}

function standingOf(measured: readonly { readonly run: number; readonly one: Kept }[]): Standing {
  const { setting } = measured[0]!.one;
  const first = measured[0]!.one.model;
  const paired = (before: Played, after: Played): PairedFigures =>
    pairedTasks(before.by_task, after.by_task, setting.seed);
  const starts = new Map(
    measured.flatMap(({ one: { start } }) => (start === undefined ? [] : [[start.figures.agent, start]])),
  );
  return {
    setting,
    at: measured.map(({ one }) => one.at).reduce((a, b) => (a > b ? a : b)),
    rows: [
      ...[...starts.values()].map(({ figures }) => ({ figures })),
      ...measured.map(({ run, one: { model, start } }) => ({
        run,
        figures: model.figures,
        ...(start && { againstStart: paired(start, model) }),
        ...(model !== first && { againstFirst: paired(first, model) }),
      })),
    ],
  };
}
