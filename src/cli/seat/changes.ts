/** Numbers the changes of a view, so that a page can wait for the next one. */
export class Changes {
  private current = 1;
  private readonly waiting = new Set<() => void>();

  get version(): number {
    return this.current;
  }

  next(): void {
    this.current++;
    this.wake();
  }

  /** Answers every page that waits. */
  wake(): void {
    for (const done of this.waiting) done();
  }

  /** Resolves with the next change when the page has this version, at once when it has another, or after a while. */
  async after(version: number | undefined, milliseconds: number): Promise<void> {
    if (version !== this.current) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.waiting.add(done);
    });
  }
}
