/** Ends the work of a call after some minutes. Without a limit it only passes the signal on. */
export class TimeLimit {
  readonly signal: AbortSignal;
  private readonly timeout: AbortSignal | undefined;
  private readonly began = performance.now();
  private longest = 0;
  private refused = false;

  constructor(
    private readonly minutes: number | undefined,
    private readonly interrupt: AbortSignal | undefined,
  ) {
    this.timeout = minutes === undefined ? undefined : AbortSignal.timeout(60_000 * minutes);
    this.signal = AbortSignal.any([this.timeout, interrupt].filter((one) => one !== undefined));
  }

  /** True if the time is up and no one has interrupted the work. */
  get isOver(): boolean {
    return this.timeout?.aborted === true && this.interrupt?.aborted !== true;
  }

  /** False when a cell that takes as long as the longest one so far would not end in time. */
  mayBegin(): boolean {
    if (this.minutes === undefined) return true;
    const isInTime = performance.now() - this.began + this.longest < 60_000 * this.minutes;
    this.refused ||= !isInTime;
    return isInTime;
  }

  /** True if work was left for another call. */
  get hasLeftWork(): boolean {
    return this.refused || this.isOver;
  }

  /** Counts a finished cell by the time at which it began. */
  ended(began: number): void {
    this.longest = Math.max(this.longest, performance.now() - began);
  }
}
