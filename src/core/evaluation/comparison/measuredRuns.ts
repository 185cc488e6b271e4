import { pairedTasks, type PairedFigures } from '../paired';
import type { AgentFigures } from '../figures';
import type { KeptEvaluation, ModelResult, EvaluationSetting } from '../loop/evaluationCache';

export interface MeasuredRuns {
  readonly setting: EvaluationSetting;
  /** Latest measurement: ISO 8601, UTC. */
  readonly at: string;
  /** First the models that the runs began with, then the measured runs in their order. */
  readonly rows: readonly MeasuredRow[];
}

export interface MeasuredRow {
  /** Index of the run; absent for a model that runs began with. */
  readonly run?: number;
  readonly figures: AgentFigures;
  /** Compared with the model that this run began with, and with the first measured run. */
  readonly againstStart?: PairedFigures;
  readonly againstFirst?: PairedFigures;
}

export const missingIn = (rows: readonly MeasuredRow[], runs: number): number[] =>
  Array.from({ length: runs }, (_, run) => run).filter((index) => rows.every(({ run }) => run !== index));

/**
 * One entry for each setting, the latest first.
 * @param kept evaluations of each run, in the order of the runs
 */
export function measuredRunsOf(kept: readonly (readonly KeptEvaluation[])[]): MeasuredRuns[] {
  const all = kept.flatMap((ofRun, run) => ofRun.map((one) => ({ run, one })));
  const byKey = Map.groupBy(all, ({ one }) => one.setting.key);
  return [...byKey.values()].map(measuredRunsIn).sort((a, b) => (a.at < b.at ? 1 : -1));
}

function measuredRunsIn(
  measured: readonly { readonly run: number; readonly one: KeptEvaluation }[],
): MeasuredRuns {
  const { setting } = measured[0]!.one;
  const first = measured[0]!.one.model;
  const paired = (before: ModelResult, after: ModelResult): PairedFigures =>
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
