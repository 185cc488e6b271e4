/** Milliseconds after which work that has to be alone no longer gives way to other work. */
const patienceMilliseconds = 2_000;

interface Waiting {
  readonly begin: () => void;
  readonly since: number;
}

/**
 * Admits work: `together`, up to a number at a time, or `alone`, when nothing else is admitted. Work that waits to be
 * alone is put off while there is other work, but not for long; then all work that waits to be alone is done in one go.
 */
export class Gate {
  private readonly sharedQueue: Waiting[] = [];
  private readonly aloneQueue: Waiting[] = [];
  private running = 0;
  private aloneRunning = false;

  constructor(private readonly places: number) {}

  together<T>(work: () => Promise<T>): Promise<T> {
    return this.admit(this.sharedQueue, work);
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.admit(this.aloneQueue, work);
  }

  private async admit<T>(queue: Waiting[], work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      queue.push({ begin, since: performance.now() });
      this.open();
    });
    try {
      return await work();
    } finally {
      this.running--;
      this.open();
    }
  }

  private open(): void {
    const first = this.aloneQueue[0];
    const impatient = first !== undefined && performance.now() - first.since > patienceMilliseconds;
    // Once the pool has emptied for one, the others that wait to be alone follow.
    const aloneNext =
      first !== undefined && (this.aloneRunning || impatient || this.sharedQueue.length === 0);
    if (aloneNext) {
      if (this.running > 0) return;
      this.aloneRunning = true;
      this.running++;
      this.aloneQueue.shift()!.begin();
      return;
    }
    if (this.aloneRunning && this.running > 0) return;
    this.aloneRunning = false;
    while (this.sharedQueue.length > 0 && this.running < this.places) {
      this.running++;
      this.sharedQueue.shift()!.begin();
    }
  }
}
