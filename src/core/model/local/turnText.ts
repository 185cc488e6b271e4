/** Earlier tokens decoded together with the next ones, because a tokenizer may join their text. */
const CONTEXT = 6;
/** Tokens that may form an incomplete character; beyond that it never becomes one. */
const MAX_PARTIAL_TOKENS = 16;

/**
 * Ends the text at a stop string, and emits pieces that never change again. The cost of a token does not depend on the
 * number of earlier ones.
 */
export class TurnText {
  readonly #ids: number[] = [];
  /** Number of tokens at the start that are already decoded. */
  #settled = 0;
  readonly #told: string[] = [];
  /** Text that is decoded but not emitted, because it may be the start of a stop string. */
  #held = '';
  #stopped = false;

  constructor(
    private readonly decode: (ids: readonly number[]) => string,
    private readonly stop: readonly string[],
  ) {}

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Returns the text that can be emitted now, perhaps none. */
  push(id: number): string {
    this.#ids.push(id);
    const news = this.#news();
    // The text ends within a character; its other bytes will follow.
    if (news.endsWith('\ufffd') && this.#ids.length - this.#settled < MAX_PARTIAL_TOKENS) return '';
    this.#settled = this.#ids.length;
    this.#held += news;
    this.#cut();
    return this.#tell(this.#stopped ? this.#held.length : this.#held.length - this.#heldBack());
  }

  end(): { readonly text: string; readonly rest: string } {
    if (!this.#stopped && this.#settled < this.#ids.length) this.#held += this.#news();
    const rest = this.#tell(this.#held.length);
    return { text: this.#told.join(''), rest };
  }

  #news(): string {
    const from = Math.max(0, this.#settled - CONTEXT);
    const before = this.decode(this.#ids.slice(from, this.#settled));
    return this.decode(this.#ids.slice(from)).slice(before.length);
  }

  #cut(): void {
    const places = this.stop.map((string) => this.#held.indexOf(string)).filter((at) => at >= 0);
    if (places.length === 0) return;
    this.#stopped = true;
    this.#held = this.#held.slice(0, Math.min(...places));
  }

  #tell(upTo: number): string {
    const piece = this.#held.slice(0, upTo);
    this.#told.push(piece);
    this.#held = this.#held.slice(upTo);
    return piece;
  }

  /** Length of the end that may be the start of a stop string. */
  #heldBack(): number {
    const longest = Math.max(0, ...this.stop.map(({ length }) => length - 1));
    for (let length = Math.min(longest, this.#held.length); length > 0; length--) {
      const end = this.#held.slice(-length);
      if (this.stop.some((string) => string.startsWith(end))) return length;
    }
    return 0;
  }
}
