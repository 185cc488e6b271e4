import type { BoardProgress } from './surroundings';

/** Tells how much of a known number of things is done and how long the rest takes, by what those before it took. */
export class Pace {
  private readonly begun = new Map<string, number>();
  private done = 0;
  private worked = 0;
  private timed = 0;

  /** @param atOnce how many are under way at the same time */
  constructor(
    private readonly total: number,
    private readonly atOnce: number,
    private readonly tell: (progress: BoardProgress) => void,
  ) {}

  /** Something is worked on. */
  where(what: string, where: string): void {
    if (!this.begun.has(what)) this.begun.set(what, performance.now());
    this.say(what, where, false);
  }

  /** Something is there; when it was not worked on before, it was there already and says nothing of the pace. */
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
