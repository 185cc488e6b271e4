import { Fault } from '../../fault';
import { TokenTexts } from './tokenTexts';

/** What may follow a text, by the text: the same few for every turn. */
export class OpeningTokens {
  private readonly texts: TokenTexts;
  private readonly known = new Map<string, readonly number[]>();

  constructor(
    private readonly folder: string,
    private readonly vocabulary: number,
  ) {
    this.texts = new TokenTexts(folder);
  }

  text(id: number): string {
    return this.texts.of(id).text;
  }

  /** Ids of the tokens with which `written` still leads to one of the openings, or beyond it. */
  after(written: string, openings: readonly string[]): readonly number[] {
    const key = JSON.stringify([written, openings]);
    const found = this.known.get(key) ?? this.find(written, openings);
    this.known.set(key, found);
    return found;
  }

  private find(written: string, openings: readonly string[]): number[] {
    const found: number[] = [];
    for (let id = 0; id < this.vocabulary; id++) {
      const token = this.text(id);
      // SentencePiece begins a text with a space. A token of blanks alone would lead nowhere.
      const text = (written + token).trimStart();
      if (text.length > written.length && openings.some((opening) => leadsTo(text, opening))) found.push(id);
    }
    if (found.length > 0) return found;
    throw new Fault(
      'model/foreign-folder',
      `The model in ${this.folder} has no tokens to begin a message with "${openings[0] ?? ''}". Take another model.`,
    );
  }
}

const leadsTo = (text: string, opening: string): boolean =>
  opening.startsWith(text) || text.startsWith(opening);

/**
 * Lets one turn begin only with one of some texts. The model chooses among them, and among the tokens that write them,
 * so that a token may reach beyond the opening: a tokenizer may have one for the opening and what usually follows.
 */
export class Opening {
  private written = '';
  isOver = false;

  constructor(
    private readonly tokens: OpeningTokens,
    private readonly openings: readonly string[],
  ) {}

  /** The logits of the tokens that are allowed; the others cannot be drawn. */
  restrict(logits: Float32Array): Float32Array {
    if (this.isOver) return logits;
    const allowed = new Float32Array(logits.length).fill(Number.NEGATIVE_INFINITY);
    for (const id of this.tokens.after(this.written, this.openings)) allowed[id] = logits[id]!;
    return allowed;
  }

  push(id: number): void {
    if (this.isOver) return;
    this.written = (this.written + this.tokens.text(id)).trimStart();
    this.isOver = this.openings.some((opening) => this.written.startsWith(opening));
  }
}
