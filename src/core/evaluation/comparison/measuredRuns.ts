import { worseHabits, type HabitChange } from '../habits';
import { pairedTasks, type PairedFigures } from '../paired';
import type { AgentFigures } from '../figureSchemas';
import {
  type KeptEvaluation,
  type ModelResult,
  type EvaluationSetting,
  evaluatedAt,
  keptOf,
} from '../loop/evaluationCache';
import type { Interval } from '../interval';
import type { Run } from '../../training/runs';

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
  /** Than those of the model that this run began with. */
  readonly worse?: readonly HabitChange[];
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
      ...measured.map(({ run, one, one: { model, start } }) => ({
        run,
        figures: model.figures,
        ...(start && { againstStart: paired(start, model), worse: worseIn(one) }),
        ...(model !== first && { againstFirst: paired(first, model) }),
      })),
    ],
  };
}

/** Empty where the model that the run began with was not measured. */
export const worseIn = ({ setting, start, model }: KeptEvaluation): HabitChange[] =>
  start === undefined ? [] : worseHabits(start.by_task, model.by_task, setting.seed);

/** Includes the 95 % interval of the gain in success on the same tasks, as a fraction. */
export type RunResult = Pick<KeptEvaluation, 'setting' | 'model' | 'start'> & {
  readonly interval?: Interval | null;
};

/** A run's evaluations are read again only after another evaluation. */
export class RunResults {
  private readonly known = new Map<string, { readonly at: number; readonly latest: RunResult | undefined }>();

  of({ folder }: Run): RunResult | undefined {
    return this.known.get(folder)?.latest;
  }

  /** @returns true if there is a new result */
  async read(runs: readonly Run[]): Promise<boolean> {
    const news = await Promise.all(
      runs.filter(({ state }) => state === 'done').map((run) => this.readOne(run)),
    );
    return news.includes(true);
  }

  private async readOne({ folder }: Run): Promise<boolean> {
    const at = await evaluatedAt(folder);
    if (at === undefined || this.known.get(folder)?.at === at) return false;
    const [latest] = (await keptOf(folder)).sort((a, b) => (a.at < b.at ? 1 : -1));
    this.known.set(folder, { at, latest: latest && withInterval(latest) });
    return true;
  }
}

/** Computed once for each evaluation, because the interval takes thousands of resamples. */
function withInterval({ setting, model, start }: KeptEvaluation): RunResult {
  if (start === undefined) return { setting, model };
  const { interval } = pairedTasks(start.by_task, model.by_task, setting.seed).success;
  return { setting, model, start, interval };
}
