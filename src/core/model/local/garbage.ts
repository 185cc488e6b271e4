import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** In bytes of dead copies. */
export const GARBAGE = 2 ** 20;

type Collect = (options: { readonly type: 'minor' }) => void;

/**
 * Collects the copies that onnxruntime-node makes of every output, even of keys and values written in place. They die
 * at once, but their size makes V8 collect the whole heap every few tokens, which takes longer than the computation; a
 * minor collection takes a tenth of that.
 */
export class OutputGarbage {
  readonly #collect: Collect;
  #bytes = 0;

  constructor() {
    setFlagsFromString('--expose-gc');
    // Freeing them on another thread would have to wait for a free core.
    setFlagsFromString('--no-concurrent-array-buffer-sweeping');
    this.#collect = runInNewContext('gc') as Collect;
  }

  /** Call before each run, with the size of its outputs; the outputs of earlier runs must be dead. */
  before(bytes: number): void {
    if (this.#bytes > GARBAGE) {
      this.#collect({ type: 'minor' });
      this.#bytes = 0;
    }
    this.#bytes += bytes;
  }
}
