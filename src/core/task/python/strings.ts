/** A string of Python: the offsets where its content begins and ends, and where the string ends with its quotes. */
interface PythonString {
  readonly inside: number;
  readonly insideEnd: number;
  readonly end: number;
}

/** Letters right before a quote make it an apostrophe, unless they are the prefix of a string. */
const OPENING = /(?<![\p{L}\p{N}_])[rbfuRBFU]{0,2}("""|'''|["'])/uy;

/**
 * Finds the strings of a text, asked from its start to its end. Takes linear time, however many of its quotes are never
 * closed: if a quote is not closed before some place, the later ones of its kind are not either.
 */
export class PythonStrings {
  /** For the quotes that begin a string: the offset up to which none of them is closed. */
  private readonly unclosed = new Map<string, number>();

  constructor(private readonly text: string) {}

  at(start: number): PythonString | undefined {
    OPENING.lastIndex = start;
    const [opening, quotes] = OPENING.exec(this.text) ?? [];
    if (opening === undefined || quotes === undefined) return undefined;
    const inside = start + opening.length;
    const insideEnd = this.closing(quotes, inside);
    if (insideEnd !== undefined) return { inside, insideEnd, end: insideEnd + quotes.length };
    // Three quotes that are never closed are an empty string and one more.
    return quotes.length === 1 ? undefined : { inside: inside - 2, insideEnd: inside - 2, end: inside - 1 };
  }

  private closing(quotes: string, from: number): number | undefined {
    if (from <= (this.unclosed.get(quotes) ?? -1)) return undefined;
    const { found, end } = quotes.length === 3 ? this.far(quotes, from) : this.inLine(quotes, from);
    if (!found) this.unclosed.set(quotes, end);
    return found ? end : undefined;
  }

  private far(quotes: string, from: number): { found: boolean; end: number } {
    const end = this.text.indexOf(quotes, from);
    return { found: end !== -1, end: end === -1 ? this.text.length : end };
  }

  private inLine(quote: string, from: number): { found: boolean; end: number } {
    let at = from;
    for (; at < this.text.length && this.text[at] !== '\n'; at += 1) {
      if (this.text[at] === quote) return { found: true, end: at };
      if (this.text[at] === '\\' && this.text[at + 1] !== '\n') at += 1;
      else if (this.text[at] === '\\') break;
    }
    return { found: false, end: at };
  }
}
