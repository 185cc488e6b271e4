import type { BoardProgress } from './surroundings';

/** Reports progress through a known number of items, and the time left as estimated from those that were timed. */
export class Pace {
  private readonly begun = new Map<string, number>();
  private done = 0;
  private worked = 0;
  private timed = 0;

  /** @param atOnce number of items at one time */
  constructor(
    private readonly total: number,
    private readonly atOnce: number,
    private readonly tell: (progress: BoardProgress) => void,
  ) {}

  /** Reports an item that is in progress. */
  where(what: string, where: string): void {
    if (!this.begun.has(what)) this.begun.set(what, performance.now());
    this.say(what, where, false);
  }

  /** Reports a finished item; one that was never in progress existed already and is not timed. */
  finished(what: string, where: string): void {
    this.done += 1;
    const began = this.begun.get(what);
    if (began !== undefined) {
      this.worked += (performance.now() - began) / 1000;
      this.timed += 1;
    }
    this.say(what, where, true);
  }

  private say(what: string, where: string, isEnd: boolean): void {
    const { done, total, timed, worked, atOnce } = this;
    const left = { secondsLeft: ((total - done) / atOnce) * (worked / timed) };
    this.tell({ done, total, what, where, isEnd, ...(timed > 0 && left) });
  }
}
