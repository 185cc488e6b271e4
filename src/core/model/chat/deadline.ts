/** How long one attempt at an answer may take, in milliseconds. */
export interface TimeLimits {
  /**
   * From the request to the first token: connecting, waiting in the server's queue and reading the prompt.
   * Node's `fetch` gives up by itself on a server that has sent no header after 300 seconds, and on a connection
   * that is not made within 10 seconds.
   */
  readonly firstTokenMs: number;
  /** Between two pieces of a streamed answer. */
  readonly betweenTokensMs: number;
  /** The whole attempt. */
  readonly totalMs: number;
}

export const defaultLimits: TimeLimits = {
  firstTokenMs: 120_000,
  betweenTokensMs: 60_000,
  totalMs: 600_000,
};

/** Which limit was passed. */
export type PassedLimit = keyof TimeLimits;

/** Watches one attempt: its `signal` aborts when the caller cancels or when a time limit is passed. */
export class Deadline implements Disposable {
  /** The limit that was passed, when that is why `signal` aborted. */
  passed: PassedLimit | undefined;
  /** Whether the caller cancelled. */
  cancelled = false;
  readonly controller = new AbortController();

  readonly #limits: TimeLimits;
  readonly #cancel: AbortSignal | undefined;
  readonly #onCancel = () => {
    if (this.signal.aborted) return;
    this.cancelled = true;
    this.controller.abort();
  };
  readonly #total: NodeJS.Timeout;
  readonly #firstToken: NodeJS.Timeout;
  #betweenTokens: NodeJS.Timeout | undefined;

  constructor(limits: TimeLimits, cancel?: AbortSignal) {
    this.#limits = limits;
    this.#cancel = cancel;
    this.#total = this.#alarm('totalMs');
    this.#firstToken = this.#alarm('firstTokenMs');
    if (cancel?.aborted) this.#onCancel();
    cancel?.addEventListener('abort', this.#onCancel, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Something arrived. The first token counts only when `token` is true: servers greet before they start to work. */
  progress(token: boolean): void {
    if (this.#betweenTokens) this.#betweenTokens.refresh();
    else if (token) {
      clearTimeout(this.#firstToken);
      this.#betweenTokens = this.#alarm('betweenTokensMs');
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#total);
    clearTimeout(this.#firstToken);
    clearTimeout(this.#betweenTokens);
    this.#cancel?.removeEventListener('abort', this.#onCancel);
  }

  #alarm(limit: PassedLimit): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.signal.aborted) return;
      this.passed = limit;
      this.controller.abort();
    }, this.#limits[limit]);
  }
}
