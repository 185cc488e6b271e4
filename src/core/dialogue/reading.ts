import { GrowingText, Search, type Range } from '../growingText';
import { isCode, isComment, LONGEST_LINE, LONGEST_NAME, NAMED } from './markers';
import { MarkedLines, type Opening } from './markedLines';
import { joined, joinedLength, Thinking } from './thinking';
import type { AgentMessage } from './protocol';

/** The markers that count, as far as the message has come. */
interface Standing {
  /** Undefined: all of it is a thought that has not ended. */
  readonly opening: Opening | undefined;
  /** The announcement of the answer, or what stands for one. */
  readonly answer: Pick<Opening, 'start' | 'end' | 'said' | 'next'> | undefined;
}

/** The beginning of a message's parts, and how long they are. */
export interface Beginning {
  /** Characters of thoughts. */
  readonly thinking: number;
  readonly before: string;
  readonly answer: string | undefined;
  /** Characters of the two that are left out. */
  readonly left: number;
}

/**
 * An agent's message, taken apart while it arrives. A piece costs the time that its own characters take, and not more
 * because of all that came before; what is read is the same however the text is cut into pieces.
 */
export class AgentReading {
  readonly text = new GrowingText();
  private readonly thinking = new Thinking();
  private readonly output = new Search(/OUTPUT:/, 'OUTPUT:'.length, 0);
  /** The whole lines behind the thoughts. */
  private lines = new MarkedLines(0, false);
  /** Finds where something is said behind the thoughts. */
  private first = new Search(/\S/, 1, 0);
  /** The line that may still grow, as far as it decides anything, and where it begins. */
  private line = '';
  private lineStart = 0;
  /** The lines with this one, once it is so long that nothing more in it decides anything. */
  private decided: MarkedLines | undefined;
  private named = new Search(NAMED, LONGEST_NAME, 0);
  /** The end of the text that was taken in, and of the last thing that is said in it. */
  private at = 0;
  private said = 0;
  /** The last line that says something; it ends behind its line feed, once it has one. */
  private saidLine: Range = { start: 0, end: 0 };
  private known: Standing | undefined;

  push(piece: string): void {
    this.text.push(piece);
    this.known = undefined;
    if (!this.thinking.read(this.text)) {
      this.feed(piece);
      return;
    }
    const { start, isUnfinished } = this.thinking;
    this.lines = new MarkedLines(start, isUnfinished);
    this.first = new Search(/\S/, 1, start);
    this.at = this.said = start;
    this.saidLine = { start, end: start };
    this.beginLine();
    this.feed(this.text.slice(start));
  }

  /** Something in the text looks as if it ended the thoughts. */
  get hasOutput(): boolean {
    return this.output.in(this.text) !== undefined;
  }

  /** All that has come so far, as a whole message. */
  get message(): AgentMessage {
    const { text, thinking } = this;
    const { opening, answer } = this.standing;
    const blocks = joined(...thinking.blocks.map(({ start, end }) => text.slice(start, end)));
    if (opening === undefined) return { thoughts: joined(blocks, text.slice(thinking.start)), visible: '' };
    const { start, end, swapped } = opening;
    const thoughts = joined(blocks, text.slice(thinking.start, swapped?.start ?? start));
    if (answer === undefined) return { thoughts, visible: text.slice(end).trim() };
    const code = text.slice(answer.end).trim();
    return { thoughts, visible: joined(text.slice(end, answer.start), code), answer: code };
  }

  /** What is said besides an answer, without the white space around it; undefined where nothing is. */
  get spoken(): Range | undefined {
    const { opening, answer } = this.standing;
    const start = opening?.next.in(this.text)?.start;
    const end = answer === undefined ? this.said : answer.said;
    return start !== undefined && start < end ? { start, end } : undefined;
  }

  /** As much of `spoken` as can be shown where nothing can be taken back: whole lines, and all of it before an answer. */
  get certain(): Range | undefined {
    const { spoken } = this;
    if (spoken === undefined || this.standing.answer !== undefined) return spoken;
    // The last line may hold the beginning of a marker, which must not be shown before it is known to be none.
    const end = this.at === this.lineStart ? this.saidLine.end : this.saidLine.start;
    return spoken.start < end ? { start: spoken.start, end } : undefined;
  }

  /** What a view draws while more comes. @param most characters of what is said and of the answer */
  beginning(most: number): Beginning {
    const { text, spoken } = this;
    const { opening, answer } = this.standing;
    const thoughts = this.lengthOf(this.first, (opening?.swapped ?? opening)?.said ?? this.said);
    const said = spoken === undefined ? 0 : spoken.end - spoken.start;
    const answered = answer === undefined ? 0 : this.lengthOf(answer.next, this.said);
    const from = (search: Search | undefined): string => {
      const start = search?.in(text)?.start ?? text.length;
      return text.slice(start, Math.min(start + most, this.said));
    };
    return {
      thinking: joinedLength(this.thinking.length, thoughts),
      before: spoken === undefined ? '' : text.slice(spoken.start, Math.min(spoken.start + most, spoken.end)),
      answer: answer === undefined ? undefined : from(answer.next),
      left: Math.max(0, said - most) + Math.max(0, answered - most),
    };
  }

  /** Characters from where something is said first up to a place. */
  private lengthOf(first: Search, end: number): number {
    return Math.max(0, end - (first.in(this.text)?.start ?? end));
  }

  private get standing(): Standing {
    return (this.known ??= standingOf(this.opening()));
  }

  private opening(): Opening | undefined {
    const { lines, lineStart, said } = this;
    const name = this.named.in(this.text);
    const line = decisive(this.line);
    if (name !== undefined && name.end - lineStart <= LONGEST_LINE) {
      const all = this.decided ?? lines.copy();
      if (this.decided === undefined) all.take(line, lineStart, said);
      if (this.line.length > LONGEST_LINE) this.decided = all;
      return all.opening(false);
    }
    const spoken = lines.opening(false);
    if (!lines.isWaiting || said <= lineStart || isComment(line)) return spoken;
    const commented = lines.opening(true);
    return spoken !== commented && isCode(line) ? commented : spoken;
  }

  private feed(piece: string): void {
    const [first = '', ...rest] = piece.split('\n');
    this.grow(first);
    for (const part of rest) {
      this.endLine();
      this.grow(part);
    }
  }

  private grow(part: string): void {
    if (this.line.length <= LONGEST_LINE) this.line += part.slice(0, LONGEST_LINE + 1 - this.line.length);
    const said = part.trimEnd().length;
    if (said > 0) {
      this.said = this.at + said;
      this.saidLine = { start: this.lineStart, end: this.said };
    }
    this.at += part.length;
  }

  private endLine(): void {
    this.lines.take(decisive(this.line), this.lineStart, this.said);
    this.at += 1;
    if (this.saidLine.start === this.lineStart) this.saidLine = { start: this.lineStart, end: this.at };
    this.beginLine();
  }

  private beginLine(): void {
    this.line = '';
    this.lineStart = this.at;
    this.decided = undefined;
    this.named = new Search(NAMED, LONGEST_NAME, this.at);
  }
}

/** Nobody writes a longer line with a marker in it: what stands further in decides nothing, and is no end of a line. */
const decisive = (line: string): string =>
  line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;

function standingOf(opening: Opening | undefined): Standing {
  const swapped = opening?.swapped;
  // Between an announcement and an `OUTPUT:` right behind it nothing is said.
  const answer =
    swapped === undefined
      ? opening?.answers.find((one) => one !== undefined)
      : { ...opening!, start: opening!.end };
  return { opening, answer };
}
