/** Tokens that are decoded together with the next, because a tokenizer may join what they say. */
const CONTEXT = 6;

/** The text of a turn while its tokens arrive: cut where a stop string begins, told in pieces that never change again. */
export class TurnText {
  readonly #ids: number[] = [];
  /** Decoded already: the text of the tokens before this one. */
  #settled = 0;
  #text = '';
  #told = 0;
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
    const from = Math.max(0, this.#settled - CONTEXT);
    const before = this.decode(this.#ids.slice(from, this.#settled));
    const after = this.decode(this.#ids.slice(from));
    // Part of a character: its other bytes follow.
    if (after.endsWith('\ufffd')) return '';
    this.#settled = this.#ids.length;
    this.#text += after.slice(before.length);
    this.#cut();
    return this.#tell(this.#stopped ? this.#text.length : this.#text.length - this.#heldBack());
  }

  /** The whole text, and what of it was not told yet. */
  end(): { readonly text: string; readonly rest: string } {
    if (!this.#stopped && this.#settled < this.#ids.length) this.#text = this.decode(this.#ids);
    return { text: this.#text, rest: this.#tell(this.#text.length) };
  }

  #cut(): void {
    const places = this.stop.map((string) => this.#text.indexOf(string, this.#told)).filter((at) => at >= 0);
    if (places.length === 0) return;
    this.#stopped = true;
    this.#text = this.#text.slice(0, Math.min(...places));
  }

  #tell(upTo: number): string {
    const piece = this.#text.slice(this.#told, upTo);
    this.#told = Math.max(this.#told, upTo);
    return piece;
  }

  /** How many characters at the end may be the beginning of a stop string. */
  #heldBack(): number {
    const longest = Math.max(0, ...this.stop.map(({ length }) => length - 1));
    for (let length = Math.min(longest, this.#text.length); length > 0; length--) {
      const end = this.#text.slice(-length);
      if (this.stop.some((string) => string.startsWith(end))) return length;
    }
    return 0;
  }
}
