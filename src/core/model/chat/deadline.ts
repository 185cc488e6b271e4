/** Time limits of one attempt at an answer, in milliseconds. */
export interface TimeLimits {
  /**
   * Limit from the request to the first token: connecting, waiting in the server's queue and reading the prompt. Node's
   * `fetch` itself gives up if no header arrives within 300 seconds, or no connection within 10 seconds.
   */
  readonly firstTokenMs: number;
  /** Limit from one piece of a streamed answer to the next. */
  readonly betweenTokensMs: number;
  readonly totalMs: number;
}

export const defaultLimits: TimeLimits = {
  firstTokenMs: 120_000,
  betweenTokensMs: 60_000,
  totalMs: 600_000,
};

export type PassedLimit = keyof TimeLimits;

/** Its `signal` aborts if the caller cancels or a time limit is exceeded. */
export class Deadline implements Disposable {
  /** The exceeded limit, if that is why `signal` aborted. */
  passed: PassedLimit | undefined;
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

  /** The first token counts only if `token` is true, because servers send greetings before they start to work. */
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
