/** Milliseconds after which work that has to be apart no longer gives way to other work. */
const patienceMilliseconds = 2_000;

interface Waiting {
  readonly begin: () => void;
  readonly since: number;
}

/**
 * Admits work: `together`, up to a number at a time, or `apart`, up to a smaller number and only beside its like. Work
 * that waits to be apart is put off while there is other work, but not for long; then all of it is done in one go.
 */
export class Gate {
  private readonly sharedQueue: Waiting[] = [];
  private readonly apartQueue: Waiting[] = [];
  private running = 0;
  private apartRunning = false;

  constructor(
    private readonly places: number,
    private readonly apartPlaces: number,
  ) {}

  together<T>(work: () => Promise<T>): Promise<T> {
    return this.admit(this.sharedQueue, work);
  }

  apart<T>(work: () => Promise<T>): Promise<T> {
    return this.admit(this.apartQueue, work);
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
    const first = this.apartQueue[0];
    const impatient = first !== undefined && performance.now() - first.since > patienceMilliseconds;
    // Once the pool has emptied for one, the others that wait to be apart follow.
    const apartNext =
      first !== undefined && (this.apartRunning || impatient || this.sharedQueue.length === 0);
    if (apartNext) {
      if (this.running > 0 && !this.apartRunning) return;
      this.apartRunning = true;
      this.begin(this.apartQueue, this.apartPlaces);
      return;
    }
    if (this.apartRunning && this.running > 0) return;
    this.apartRunning = false;
    this.begin(this.sharedQueue, this.places);
  }

  private begin(queue: Waiting[], places: number): void {
    while (queue.length > 0 && this.running < places) {
      this.running++;
      queue.shift()!.begin();
    }
  }
}
