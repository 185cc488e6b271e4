import type { BoardProgress } from './surroundings';

/** Tells how much of a known number of cells is done and how long the rest takes, by what those before it took. */
export class Pace {
  private done = 0;
  private worked = 0;
  private timed = 0;

  /** @param atOnce cells under way at the same time */
  constructor(
    private readonly total: number,
    private readonly atOnce: number,
    private readonly tell: (progress: BoardProgress) => void,
  ) {}

  where(what: string, where: string): void {
    const { done, total, timed, worked, atOnce } = this;
    const each = timed === 0 ? undefined : worked / timed;
    const secondsLeft = each === undefined ? undefined : Math.ceil((total - done) / atOnce) * each;
    this.tell({ done, total, what, where, ...(secondsLeft !== undefined && { secondsLeft }) });
  }

  /** @param seconds that it took; undefined when it was there already */
  finished(what: string, where: string, seconds: number | undefined): void {
    this.done += 1;
    if (seconds !== undefined) {
      this.worked += seconds;
      this.timed += 1;
    }
    this.where(what, where);
  }
}
