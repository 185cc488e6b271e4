import { GrowingText, Search, type Range } from '../growingText';
import { Thinking } from './thinking';

/** The transcript calls the collaborator "You", and some models begin as it does. */
const LABEL = /^[*_]{0,9}(?:You|Reply|Your reply)[*_]{0,9}:[*_]{0,9}/i;
const LONGEST_LABEL = 50;

/** What a simulator says to the agent, while its text arrives. Nothing is told before a first word is whole. */
export class SimulatorReading {
  private readonly text = new GrowingText();
  private readonly thinking = new Thinking();
  /** The first word is whole: something stands behind it, or it cannot be a label or a tag any more. */
  private readonly word = new Search(/[>:]|\S\s/, 2, 0);
  private first = new Search(/\S/, 1, 0);
  private unlabelled: { readonly from: number; readonly first: Search } | undefined;
  private end = 0;
  private told: Range | undefined;

  /** @returns what can be told now; nothing where the text turns out to be another than what was told */
  push(piece: string): string {
    const length = piece.trimEnd().length;
    if (length > 0) this.end = this.text.length + length;
    this.text.push(piece);
    if (this.thinking.read(this.text)) this.first = new Search(/\S/, 1, this.thinking.start);
    const now = this.word.in(this.text) === undefined ? undefined : this.said;
    if (now === undefined) return '';
    const { told, text } = this;
    this.told = now;
    if (told === undefined) return text.slice(now.start, now.end);
    const grown = now.end - now.start - (told.end - told.start);
    if (grown <= 0) return '';
    const isSame =
      now.start === told.start || text.slice(now.start, now.end - grown) === text.slice(told.start, told.end);
    return isSame ? text.slice(now.end - grown, now.end) : '';
  }

  /** All that is said so far. */
  get whole(): string {
    const { said } = this;
    return said === undefined ? '' : this.text.slice(said.start, said.end);
  }

  private get said(): Range | undefined {
    const { text } = this;
    const begun = this.thinking.isUnfinished ? undefined : this.first.in(text)?.start;
    if (begun === undefined) return undefined;
    const [label = ''] = LABEL.exec(text.slice(begun, begun + LONGEST_LABEL)) ?? [];
    const from = begun + label.length;
    if (this.unlabelled?.from !== from) this.unlabelled = { from, first: new Search(/\S/, 1, from) };
    const start = this.unlabelled.first.in(text)?.start;
    return start !== undefined && start < this.end ? { start, end: this.end } : undefined;
  }
}
