import { evaluatedAt, keptOf, type Kept } from '../../core/loop/kept';
import type { Run } from '../../core/training/runs';

/** The latest evaluation of each run, read again only when another one was kept. */
export class RunResults {
  private readonly known = new Map<string, { readonly at: number; readonly latest: Kept | undefined }>();

  of({ folder }: Run): Kept | undefined {
    return this.known.get(folder)?.latest;
  }

  /** Looks at the folders of the runs that are done. @returns whether there is a new result */
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
