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

/** Its `signal` aborts if the caller cancels or a time limit is exceeded. */
export class Deadline implements Disposable {
  /** The exceeded limit, if that is why `signal` aborted. */
  passed: keyof TimeLimits | undefined;
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #total: NodeJS.Timeout;
  readonly #firstToken: NodeJS.Timeout;
  #betweenTokens: NodeJS.Timeout | undefined;

  constructor(
    readonly limits: TimeLimits,
    readonly cancel?: AbortSignal,
  ) {
    this.signal = AbortSignal.any([this.#stop.signal, cancel ?? []].flat());
    this.#total = this.#alarm('totalMs');
    this.#firstToken = this.#alarm('firstTokenMs');
  }

  /** The first token counts only if `token` is true, because servers send greetings before they start to work. */
  progress(token: boolean): void {
    if (this.#betweenTokens) this.#betweenTokens.refresh();
    else if (token) {
      clearTimeout(this.#firstToken);
      this.#betweenTokens = this.#alarm('betweenTokensMs');
    }
  }

  abort(): void {
    this.#stop.abort();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#total);
    clearTimeout(this.#firstToken);
    clearTimeout(this.#betweenTokens);
  }

  #alarm(limit: keyof TimeLimits): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.signal.aborted) return;
      this.passed = limit;
      this.abort();
    }, this.limits[limit]);
  }
}
