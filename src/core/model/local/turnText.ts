/** Tokens that are decoded together with the next, because a tokenizer may join what they say. */
const CONTEXT = 6;
/** Tokens whose end is no character yet. What does not become one by then never does. */
const MOST_UNSETTLED = 16;

/**
 * The text of a turn while its tokens arrive: cut where a stop string begins, told in pieces that never change again. A
 * token costs the same however many came before.
 */
export class TurnText {
  readonly #ids: number[] = [];
  /** Decoded already: the text of the tokens before this one. */
  #settled = 0;
  readonly #told: string[] = [];
  /** Decoded and not told yet: it may be the beginning of a stop string. */
  #held = '';
  #stopped = false;

  constructor(
    private readonly decode: (ids: readonly number[]) => string,
    private readonly stop: readonly string[],
  ) {}

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Adds a token. Returns what can be told now, perhaps nothing. */
  push(id: number): string {
    this.#ids.push(id);
    const news = this.#news();
    // Part of a character: its other bytes follow.
    if (news.endsWith('\ufffd') && this.#ids.length - this.#settled < MOST_UNSETTLED) return '';
    this.#settled = this.#ids.length;
    this.#held += news;
    this.#cut();
    return this.#tell(this.#stopped ? this.#held.length : this.#held.length - this.#heldBack());
  }

  /** The whole text, and what of it was not told yet. */
  end(): { readonly text: string; readonly rest: string } {
    if (!this.#stopped && this.#settled < this.#ids.length) this.#held += this.#news();
    const rest = this.#tell(this.#held.length);
    return { text: this.#told.join(''), rest };
  }

  /** What the tokens say that are not settled. */
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

  /** How many characters at the end may be the beginning of a stop string. */
  #heldBack(): number {
    const longest = Math.max(0, ...this.stop.map(({ length }) => length - 1));
    for (let length = Math.min(longest, this.#held.length); length > 0; length--) {
      const end = this.#held.slice(-length);
      if (this.stop.some((string) => string.startsWith(end))) return length;
    }
    return 0;
  }
}
