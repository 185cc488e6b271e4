import { getHeapStatistics } from 'node:v8';

/** What is made of a request takes a few times its bytes. */
const FRACTION_OF_HEAP = 1 / 4;

/** Bytes of requests that all clients of a server may have open, so that many large ones cannot end it. */
export class RequestMemory {
  #held = 0;

  constructor(private readonly most = Math.floor(getHeapStatistics().heap_size_limit * FRACTION_OF_HEAP)) {}

  /** False, and nothing is held, if not so many are left. */
  hold(bytes: number): boolean {
    if (this.#held + bytes > this.most) return false;
    this.#held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}
