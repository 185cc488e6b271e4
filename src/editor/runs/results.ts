import { evaluatedAt, keptOf, type KeptEvaluation } from '../../core/evaluation/loop/kept';
import type { Run } from '../../core/training/runs';

/** The latest evaluation of each run, read again only after another evaluation. */
export class RunResults {
  private readonly known = new Map<
    string,
    { readonly at: number; readonly latest: KeptEvaluation | undefined }
  >();

  of({ folder }: Run): KeptEvaluation | undefined {
    return this.known.get(folder)?.latest;
  }

  /**
   * Reads the folders of finished runs.
   * @returns whether there is a new result
   */
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
    this.known.set(folder, { at, latest });
    return true;
  }
}
