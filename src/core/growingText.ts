const FIRST_BYTES = 1024;
const BYTES_A_UNIT = 2;
/** Characters that are searched at a time. */
const WINDOW = 512;

/** A place in a text, from its first character to behind its last. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * A text that grows by pieces and is read at any place in between. A string that is put together with `+=` is copied
 * whole whenever it is looked into, which over many pieces takes time in the square of its length.
 */
export class GrowingText {
  /** UTF-16, so that places are those of a string and half a character stays what it is. */
  private bytes = Buffer.allocUnsafe(FIRST_BYTES);
  private units = 0;

  /** In UTF-16 code units, as of a string. */
  get length(): number {
    return this.units;
  }

  push(piece: string): void {
    const needed = (this.units + piece.length) * BYTES_A_UNIT;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafe(2 * needed);
      this.bytes.copy(larger, 0, 0, this.units * BYTES_A_UNIT);
      this.bytes = larger;
    }
    this.bytes.write(piece, this.units * BYTES_A_UNIT, 'utf16le');
    this.units += piece.length;
  }

  /** As `String.prototype.slice`, for places that are not negative. */
  slice(start: number, end = this.units): string {
    const last = Math.min(end, this.units);
    return start >= last ? '' : this.bytes.toString('utf16le', start * BYTES_A_UNIT, last * BYTES_A_UNIT);
  }
}

/** Looks for the first match of an expression from a place on, and never twice at the same place while the text grows. */
export class Search {
  private found: Range | undefined;

  /** @param longest most characters of a match */
  constructor(
    private readonly expression: RegExp,
    private readonly longest: number,
    private at: number,
  ) {}

  /** Undefined while there is none. */
  in(text: GrowingText): Range | undefined {
    while (this.found === undefined && this.at < text.length) {
      const end = Math.min(text.length, this.at + WINDOW + this.longest - 1);
      const match = this.expression.exec(text.slice(this.at, end));
      if (match !== null) {
        const start = this.at + match.index;
        this.found = { start, end: start + match[0].length };
      }
      // The last characters may be the beginning of a match.
      this.at = Math.max(this.at, end - this.longest + 1);
      if (end === text.length) break;
    }
    return this.found;
  }
}
