import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Copies of this many bytes may lie about. */
export const GARBAGE = 2 ** 20;

type Collect = (options: { readonly type: 'minor' }) => void;

/**
 * onnxruntime-node copies every output into an array of its own, keys and values that were written in place as well.
 * They die at once, but their size makes V8 collect the whole heap every few tokens, which takes longer than to compute
 * them; collecting only what is young frees them for a tenth of that.
 */
export class OutputGarbage {
  readonly #collect: Collect;
  #bytes = 0;

  constructor() {
    setFlagsFromString('--expose-gc');
    // A thread that frees them later would have to be given a core first.
    setFlagsFromString('--no-concurrent-array-buffer-sweeping');
    this.#collect = runInNewContext('gc') as Collect;
  }

  /** Called before each run, with the size of its outputs: those of the runs before are dead by then. */
  before(bytes: number): void {
    if (this.#bytes > GARBAGE) {
      this.#collect({ type: 'minor' });
      this.#bytes = 0;
    }
    this.#bytes += bytes;
  }
}
