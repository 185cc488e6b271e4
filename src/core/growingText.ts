const FIRST_BYTES = 1024;
const BYTES_A_UNIT = 2;
/** Searched at a time, besides the overlap of one match. */
const WINDOW = 512;

/** `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * A text that grows piece by piece and can be read at any position in between. A string built with `+=` is copied whole
 * each time it is read, which takes quadratic time over many pieces.
 */
export class GrowingText {
  /** UTF-16, so that positions are those of a string and half a surrogate pair survives. */
  private bytes = Buffer.allocUnsafe(FIRST_BYTES);
  private units = 0;

  /** UTF-16 code units, as for a string. */
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

  /** `String.prototype.slice` for positions that are not negative. */
  slice(start: number, end = this.units): string {
    const last = Math.min(end, this.units);
    return start >= last ? '' : this.bytes.toString('utf16le', start * BYTES_A_UNIT, last * BYTES_A_UNIT);
  }
}

/** Finds the first match at or after a position; never searches the same position twice as the text grows. */
export class Search {
  private found: TextRange | undefined;

  /** @param longest maximum number of characters of a match */
  constructor(
    private readonly expression: RegExp,
    private readonly longest: number,
    private at: number,
  ) {}

  in(text: GrowingText): TextRange | undefined {
    while (this.found === undefined && this.at < text.length) {
      const end = Math.min(text.length, this.at + WINDOW + this.longest - 1);
      const match = this.expression.exec(text.slice(this.at, end));
      if (match !== null) {
        const start = this.at + match.index;
        this.found = { start, end: start + match[0].length };
      }
      // The last characters may be the start of a match that is still arriving.
      this.at = Math.max(this.at, end - this.longest + 1);
      if (end === text.length) break;
    }
    return this.found;
  }
}
