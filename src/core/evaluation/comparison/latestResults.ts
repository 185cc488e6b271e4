import { evaluatedAt, keptOf, type KeptEvaluation } from '../loop/evaluationCache';
import type { Interval } from '../interval';
import { pairedTasks } from '../paired';
import type { Run } from '../../training/runs';

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
