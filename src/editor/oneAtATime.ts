/** Work that does not overlap itself. Who asks during it has it done again, because it may have missed what is new. */
export class OneAtATime {
  private working: Promise<void> | undefined;
  private isAskedAgain = false;

  /** @param work reports its own errors */
  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when the work was done from beginning to end since the call. */
  do(): Promise<void> {
    this.isAskedAgain = true;
    this.working ??= this.untilCalm();
    return this.working;
  }

  private async untilCalm(): Promise<void> {
    try {
      while (this.isAskedAgain) {
        this.isAskedAgain = false;
        await this.work();
      }
    } finally {
      this.working = undefined;
    }
  }
}
